using Corfu.FaultRuns.ZooKeeper.Clients;
using Corfu.FaultRuns.ZooKeeper.Faults;
using Corfu.FaultRuns.ZooKeeper.Judging;
using Corfu.FaultRuns.ZooKeeper.Workers;

namespace Corfu.FaultRuns.Tests;

/// <summary>The judges of ZooKeeper's sessions find each of the faults that they look for.</summary>
public sealed class ZooKeeperJudgeTests
{
    private const string Counter = "/counters/0";
    private const string Queue = "/queues/0";
    private const string Guarded = "/guarded/0";

    private readonly Dictionary<string, (string, int)> _final = [];
    private readonly List<ZooLife> _lives = [];
    private readonly List<string> _left = [];
    private long _now;

    [Fact]
    public void Good_history_has_no_finding()
    {
        var life = Live();
        Set(life, Counter, "a start", 0, zxid: 5);
        Get(life, Counter, "a start", version: 1, mzxid: 5, zxid: 6, watch: true);
        Event(life, Counter, 3, zxid: 8);
        Get(life, Counter, "b a", version: 2, mzxid: 8, zxid: 9);
        Set(Live(), Counter, "b a", 1, zxid: 8);
        _final[Counter] = ("b a", 2);
        var verdict = Judge();
        Assert.True(verdict.IsGood, string.Join('\n', verdict.Told(9)));
        Assert.Equal((4, 1), (verdict.Operations, verdict.Events));
    }

    [Fact]
    public void Acknowledged_count_that_no_later_text_leads_to_is_lost()
    {
        Set(Live(), Counter, "a start", 0, zxid: 5);
        Set(Live(), Counter, "b start", 0, zxid: 6, error: ZooEntry.Unknown);
        _final[Counter] = ("b start", 1);
        Assert.Single(Judge().Lost);
    }

    [Fact]
    public void Counter_below_an_acknowledged_version_is_lost()
    {
        Set(Live(), Counter, "a start", 0, zxid: 5);
        _final[Counter] = (ZooPaths.FirstCount, 0);
        Assert.NotEmpty(Judge().Lost);
    }

    [Fact]
    public void Refused_count_that_took_effect_is_one_too_many()
    {
        Set(Live(), Counter, "a start", 0, zxid: 5, error: ZooEntry.BadVersion);
        _final[Counter] = ("a start", 1);
        Assert.Single(Judge().Twice);
    }

    [Fact]
    public void Count_at_a_version_apart_from_the_asked_one_is_too_many()
    {
        Set(Live(), Counter, "a start", 0, zxid: 5, error: ZooEntry.Unknown);
        _final[Counter] = ("a start", 2);
        Assert.NotEmpty(Judge().Twice);
    }

    [Theory]
    [InlineData("7", 6, 1, 0)]
    [InlineData("6", 7, 0, 1)]
    [InlineData("7", 7, 0, 0)]
    public void Number_apart_from_the_version_tells_a_gap_or_a_repetition(
        string number, int version, int lost, int twice)
    {
        Get(Live(), "/fifo/a", number, version, mzxid: 5, zxid: 6);
        var verdict = Judge();
        Assert.Equal((lost, twice), (verdict.Lost.Count, verdict.Twice.Count));
    }

    [Theory]
    [InlineData(8, 9, 7, 10)]
    [InlineData(8, 9, 8, 8)]
    public void State_or_zxid_that_goes_back_is_stale(long mzxid, long zxid, long nextMzxid, long nextZxid)
    {
        var life = Live();
        Get(life, "/watched/0", "", version: 1, mzxid, zxid);
        Get(life, "/watched/0", "", version: 1, nextMzxid, nextZxid);
        Assert.Single(Judge().Stale);
    }

    [Fact]
    public void Node_of_before_a_deletion_is_stale()
    {
        var life = Live();
        Add(life, new ZooCall(ZooAct.Exists, "/flickering/0"), zxid: 9, ZooEntry.NoNode);
        Get(life, "/flickering/0", "", version: 0, mzxid: 10, zxid: 11, czxid: 8);
        Assert.Single(Judge().Stale);
    }

    [Theory]
    [InlineData(4, 1)]
    [InlineData(7, 0)]
    public void Read_behind_a_sync_shows_all_acknowledged_writes(long mzxid, int stale)
    {
        Set(Live(), Counter, "a start", 0, zxid: 7);
        _final[Counter] = ("a start", 1);
        var life = Live();
        Add(life, new ZooCall(ZooAct.Sync, Counter), zxid: 7);
        Get(life, Counter, "a start", version: 1, mzxid, zxid: 8);
        Assert.Equal(stale, Judge().Stale.Count);
    }

    [Fact]
    public void Change_shown_before_the_event_is_missed()
    {
        var life = Live();
        Get(life, "/watched/0", "", version: 1, mzxid: 5, zxid: 6, watch: true);
        Get(life, "/watched/0", "", version: 2, mzxid: 8, zxid: 9);
        Event(life, "/watched/0", 3, zxid: 8);
        Assert.Single(Judge().Missed);
    }

    [Theory]
    [InlineData(true, 0)]
    [InlineData(false, 1)]
    public void Created_and_listed_nodes_are_told_first(bool isTold, int missed)
    {
        var life = Live();
        Add(life, new ZooCall(ZooAct.Exists, "/flickering/0") { Watch = true }, zxid: 5, ZooEntry.NoNode);
        if (isTold) Event(life, "/flickering/0", 1, zxid: 7);
        Get(life, "/flickering/0", "", version: 0, mzxid: 7, zxid: 8, czxid: 7);
        Assert.Equal(missed, Judge().Missed.Count);

        List(life, "/flickering", pzxid: 7, zxid: 9, watch: true);
        if (isTold) Event(life, "/flickering", 4, zxid: 10);
        List(life, "/flickering", pzxid: 10, zxid: 11);
        Assert.Equal(2 * missed, Judge().Missed.Count);
    }

    [Fact]
    public void Reply_to_a_write_comes_behind_the_event()
    {
        var life = Live();
        List(life, Queue, pzxid: 5, zxid: 6, watch: true);
        Create(life, $"{Queue}/item-", "a", $"{Queue}/item-0000000000", zxid: 8);
        _final[$"{Queue}/item-0000000000"] = ("a", 0);
        Assert.Single(Judge().Missed);
    }

    [Fact]
    public void Event_without_a_watch_is_one_too_many()
    {
        var life = Live();
        Get(life, "/watched/0", "", version: 1, mzxid: 5, zxid: 6, watch: true);
        Event(life, "/watched/0", 3, zxid: 8);
        Event(life, "/watched/0", 3, zxid: 9);
        Assert.Single(Judge().Twice);
    }

    [Fact]
    public void Guarded_write_behind_a_later_token_is_one_too_many()
    {
        Guard(Live(), "/locks/0/a", token: 3, zxid: 9);
        Guard(Live(), "/locks/0/b", token: 7, zxid: 8);
        Assert.Single(Judge().Twice);
    }

    [Fact]
    public void Holders_at_once_are_one_too_many()
    {
        var (one, other) = (Live(), Live());
        Guard(one, "/locks/0/a", token: 3, zxid: 5);
        Guard(other, "/locks/0/b", token: 7, zxid: 8);
        Guard(one, "/locks/0/a", token: 3, zxid: 6);
        Guard(other, "/locks/0/b", token: 7, zxid: 9);
        Assert.Single(Judge().Twice);
    }

    [Fact]
    public void Lock_node_that_went_by_itself_is_lost()
    {
        Add(Live(), new ZooCall(ZooAct.GuardedSet, Guarded) { Guard = "/locks/0/a", Data = "3 x" }, zxid: 5,
            ZooEntry.NoNode);
        Assert.Single(Judge().Lost);
    }

    [Fact]
    public void Item_is_taken_once_or_left()
    {
        var (path, other) = ($"{Queue}/item-0000000000", $"{Queue}/item-0000000001");
        Create(Live(), $"{Queue}/item-", "a", path, zxid: 5);
        Create(Live(), $"{Queue}/item-", "b", other, zxid: 6);
        _final[other] = ("b", 0);
        Assert.Single(Judge().Lost);
        Add(Live(), new ZooCall(ZooAct.Delete, path), zxid: 7);
        Assert.Empty(Judge().Lost);
        Add(Live(), new ZooCall(ZooAct.Delete, path), zxid: 8);
        Assert.Single(Judge().Twice);
        Add(Live(), new ZooCall(ZooAct.Delete, other), zxid: 9);
        Assert.Single(Judge().Lost);
    }

    [Theory]
    [InlineData("a", "item-0000000001", 1)]
    [InlineData("b", "item-0000000000", 1)]
    [InlineData("b", "item-0000000001", 0)]
    public void Item_and_name_come_once(string text, string name, int twice)
    {
        Create(Live(), $"{Queue}/item-", "a", $"{Queue}/item-0000000000", zxid: 5);
        Add(Live(), new ZooCall(ZooAct.Create, $"{Queue}/item-") { Data = "b", IsSequential = true }, zxid: 0,
            ZooEntry.Unknown);
        _final[$"{Queue}/item-0000000000"] = ("a", 0);
        _final[$"{Queue}/{name}"] = (text, 0);
        Assert.Equal(twice, Judge().Twice.Count + Judge().Lost.Count);
    }

    [Fact]
    public void Names_have_the_order_of_zxids()
    {
        Create(Live(), $"{Queue}/item-", "a", $"{Queue}/item-0000000001", zxid: 5);
        Create(Live(), $"{Queue}/item-", "b", $"{Queue}/item-0000000000", zxid: 6);
        _final[$"{Queue}/item-0000000000"] = ("b", 0);
        _final[$"{Queue}/item-0000000001"] = ("a", 0);
        Assert.Single(Judge().Twice);
    }

    [Theory]
    [InlineData(2, false, 0, 0)]
    [InlineData(1, false, 1, 0)]
    [InlineData(2, true, 1, 0)]
    [InlineData(0, true, 0, 0)]
    [InlineData(0, false, 0, 1)]
    public void Ephemeral_nodes_go_together_and_with_the_session(int there, bool hasClosed, int left, int lost)
    {
        var owner = Live();
        for (var i = 0; i < 2; i++)
            Create(owner, $"/ephemerals/x-{i}", "", $"/ephemerals/x-{i}", zxid: 5 + i);
        if (hasClosed) Add(owner, new ZooCall(ZooAct.Close, ""), zxid: 9);
        List(Live(), "/ephemerals", pzxid: 6, zxid: 12, names: [.. Enumerable.Range(0, there).Select(i => $"x-{i}")]);
        if (!hasClosed) Get(owner, "/watched/0", "", version: 0, mzxid: 1, zxid: 20);
        var verdict = Judge();
        Assert.Equal((left, lost), (verdict.Left.Count, verdict.Lost.Count));
    }

    [Fact]
    public void Ephemeral_nodes_go_before_a_client_hears_of_the_end()
    {
        var owner = Live();
        Create(owner, "/ephemerals/x-0", "", "/ephemerals/x-0", zxid: 5);
        Add(owner, new ZooCall(ZooAct.Expired, ""), zxid: 0);
        var other = Live();
        Add(other, new ZooCall(ZooAct.Sync, "/ephemerals"), zxid: 8);
        List(other, "/ephemerals", pzxid: 5, zxid: 9, names: ["x-0"]);
        _left.Add("/ephemerals/y");
        var verdict = Judge();
        Assert.Equal((2, 1), (verdict.Left.Count, verdict.Expired));
    }

    [Fact]
    public void Own_ephemeral_node_is_missed()
    {
        var owner = Live();
        Create(owner, "/ephemerals/x-0", "", "/ephemerals/x-0", zxid: 5);
        Add(owner, new ZooCall(ZooAct.Exists, "/ephemerals/x-0"), zxid: 8, ZooEntry.NoNode);
        Get(owner, "/watched/0", "", version: 0, mzxid: 1, zxid: 9);
        Assert.Single(Judge().Lost);
    }

    [Fact]
    public void Malformed_packet_is_no_good_history()
    {
        Live().AddFault("a reply 3 where 2 is due");
        Assert.False(Judge().IsGood);
    }

    [Fact]
    public void Plan_repeats_by_seed_and_begins_with_deaths_and_a_pause()
    {
        var kinds = Enum.GetValues<ZooFaultKind>();
        var plan = ZooFault.Plan(5, kinds).Take(2 * kinds.Length).ToList();
        Assert.Equal(plan, ZooFault.Plan(5, kinds).Take(2 * kinds.Length));
        Assert.Equal(kinds, plan.Take(kinds.Length).Select(fault => fault.Kind).Order());
        Assert.Equal([ZooFaultKind.KillFrontEnd, ZooFaultKind.StopFrontEnd, ZooFaultKind.KillUnit],
            plan.Take(3).Select(fault => fault.Kind).Order());
    }

    private ZooVerdict Judge() => ZooVerdict.Of(_lives, new ZooAudit(_final, _left));

    private ZooLife Live()
    {
        var life = new ZooLife($"life {_lives.Count}");
        _lives.Add(life);
        return life;
    }

    private void Add(ZooLife life, ZooCall call, long zxid, int error = 0, ZooStat? stat = null, string text = "",
        string[]? names = null) => life.Add(new ZooEntry(call)
        {
            Began = ++_now,
            Ended = ++_now,
            Zxid = zxid,
            Error = error,
            Stat = error == 0 ? stat : null,
            Text = text,
            Names = names ?? [],
        });

    private void Set(ZooLife life, string path, string data, int version, long zxid, int error = 0) =>
        Add(life, new ZooCall(ZooAct.Set, path) { Data = data, Version = version },
            error == ZooEntry.Unknown ? 0 : zxid, error, new ZooStat(1, zxid, 1, version + 1));

    private void Get(ZooLife life, string path, string text, int version, long mzxid, long zxid, long czxid = 1,
        bool watch = false) => Add(life, new ZooCall(ZooAct.Get, path) { Watch = watch }, zxid, 0,
            new ZooStat(czxid, mzxid, 1, version), text);

    private void List(ZooLife life, string path, long pzxid, long zxid, bool watch = false, string[]? names = null) =>
        Add(life, new ZooCall(ZooAct.Children, path) { Watch = watch }, zxid, 0, new ZooStat(1, 1, pzxid, 0), "",
            names);

    private void Create(ZooLife life, string path, string data, string made, long zxid) =>
        Add(life, new ZooCall(ZooAct.Create, path) { Data = data, IsSequential = made != path }, zxid, 0,
            new ZooStat(zxid, zxid, zxid, 0), made);

    private void Guard(ZooLife life, string node, long token, long zxid) =>
        Add(life, new ZooCall(ZooAct.GuardedSet, Guarded) { Guard = node, Data = $"{token} x{zxid}" }, zxid, 0,
            new ZooStat(1, zxid, 1, 1));

    private static void Event(ZooLife life, string path, int kind, long zxid) =>
        life.Add(new ZooEntry(new ZooCall(ZooAct.Event, path)) { Zxid = zxid, Kind = kind });
}
