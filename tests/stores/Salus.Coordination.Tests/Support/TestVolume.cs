using Salus.Coordination.Rules;

namespace Salus.Coordination.Tests.Support;

/// <summary>A volume of some regions of two copies, under the rules alone. Its signers sign whatever a test
/// asks.</summary>
internal sealed class TestVolume
{
    public const int Copies = 2;

    public static readonly VolumeId Id = new(new Guid(77, 0, 0, new byte[8]));
    public static readonly Incarnation Driver = Name(500);

    public TestVolume(int regions = 2)
    {
        State = VolumeState.Empty;
        Must(RegionRules.Create(State, Id, VolumeGeometry.Create(regions * 16L * 4096, 4096, 16, Copies)));
        Must(RegionRules.Place(State, 0,
            [.. Enumerable.Range(0, regions).Select(region => Members(10 * region, (10 * region) + 1))]));
    }

    public VolumeState State { get; set; }

    public long Token { get; set; } = 1;

    public RegionState this[int region] => State.Regions[region];

    public static Incarnation Name(int number) => new(new Guid(number + 1, 0, 0, new byte[8]));

    public static StoreId Store(int number) => new(new Guid(number + 1, 1, 0, new byte[8]));

    public static Hash128 Hash(long number) => new((UInt128)(ulong)(number + 1));

    public static BatchName Batch(long run, long number) => new(run, number, Hash((1000 * run) + number));

    public static ReportedBatch Reported(long run, long number, params ImmutableArray<int> participants) =>
        new(Batch(run, number), Root(number), participants);

    public static Hash128 Root(long number) => number == 0 ? default : Hash(100_000 + number);

    public static RegionMember Member(int number) => new(Store(number), Name(number), false);

    public static ImmutableArray<RegionMember> Members(params ReadOnlySpan<int> numbers)
    {
        var members = ImmutableArray.CreateBuilder<RegionMember>();
        foreach (var number in numbers) members.Add(Member(number));
        return members.ToImmutable();
    }

    /// <summary>Signed by the members of a region's newest generation.</summary>
    public Certificate Sign(int region, Func<RegionKey, Epoch, Statement> statement)
    {
        var current = this[region].Current;
        var said = statement(State.Key(region), current.Number);
        return new Certificate(current.Number,
            [.. current.Members.Select(member => new Signer(member.Incarnation).Sign(said))]);
    }

    public CommitProof Proof(int leader, BatchName batch) =>
        new(leader, batch, Sign(leader, (key, generation) => Statement.Committed(key, generation, batch)));

    public void Must(VolumeRuling ruling)
    {
        Assert.Null(ruling.Refusal);
        State = ruling.State;
    }

    /// <summary>A refusal that contains the words, and changes nothing.</summary>
    public void MustNot(VolumeRuling ruling, string words)
    {
        Assert.Contains(words, ruling.Refusal, StringComparison.Ordinal);
        Assert.Same(State, ruling.State);
    }

    public VolumeRuling Replace(int region, params ReadOnlySpan<int> members) =>
        RegionRules.Replace(State, region, this[region].Current.Number, Members(members));

    public VolumeRuling Recover(int region, long index, BatchName last = default, long? run = null)
    {
        var opening = new RegionOpening(index, Hash(index), run ?? State.Head.Run, last, 2);
        return RegionRules.Recovered(State, region, this[region].Current.Number, opening, Sign(region,
            (key, generation) => Statement.Opening(key, generation, index, Hash(index), last)));
    }

    public VolumeRuling Report(int region, RegionReport report) => VolumeRules.Report(
        State, region, this[region].Current.Number, report,
        Sign(region, (key, generation) => Statement.Report(key, generation, report.Digest)));

    /// <summary>Reports of nothing but this.</summary>
    public VolumeRuling Report(int region, CommitProof? committed = null, ReportedBatch? last = null,
        params ImmutableArray<ReportedBatch> above) =>
        Report(region, new RegionReport(State.Head.Run, committed, last, above));

    public VolumeRuling Publish(int region, CheckpointName checkpoint) => RegionRules.Publish(
        State, region, this[region].Current.Number, checkpoint,
        Sign(region, (key, generation) => Statement.Checkpoint(key, generation, checkpoint)));

    public VolumeRuling Opened(Hash128? root = null) => VolumeRules.Opened(State, State.Head.Run,
        root ?? State.Head.Decision!.VolumeRoot,
        [.. State.Regions.Values.Select(region => region.Current.Number.Value)]);

    public void Begin() => Must(VolumeRules.BeginRun(State, ++Token, Driver));

    /// <summary>A run of a writer that finds nothing.</summary>
    public void Open()
    {
        Begin();
        foreach (var region in State.Regions.Keys) Must(Report(region));
        Must(Opened());
    }

    public VolumeRuling Note(long number, long stable) => VolumeRules.Note(State, State.Head.Run,
        Proof(0, Batch(State.Head.Run, number)), Root(number), stable);

    public static CheckpointName File(long number, long run, long batch, Hash128? root = null) =>
        new(number, 10 * number, run, batch, root ?? Hash(batch), Hash(number));
}
