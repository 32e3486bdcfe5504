using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Judging;

/// <summary>Nodes that a fresh session found behind a sync, when all others had ended.</summary>
/// <param name="Data">By path: text and version.</param>
/// <param name="Left">Ephemeral nodes that stay for ever.</param>
public sealed record ZooAudit(
    IReadOnlyDictionary<string, (string Text, int Version)> Data, IReadOnlyList<string> Left);

/// <summary>The verdict on all sessions of a run.</summary>
public sealed class ZooVerdict
{
    /// <summary>Effects that are missing: acknowledged writes, ephemeral nodes of a session that lives.</summary>
    public List<string> Lost { get; } = [];

    /// <summary>Effects too many: writes that took effect twice, or though they were refused; two holders of a lock;
    /// items taken twice; events without a watch.</summary>
    public List<string> Twice { get; } = [];

    /// <summary>Replies that go back, or that show less than a sync promised.</summary>
    public List<string> Stale { get; } = [];

    /// <summary>Ephemeral nodes of sessions that have ended.</summary>
    public List<string> Left { get; } = [];

    /// <summary>Changes of watched nodes that a session was shown before their event.</summary>
    public List<string> Missed { get; } = [];

    /// <summary>Packets that no server may send.</summary>
    public List<string> Faults { get; } = [];

    /// <summary>Requests that were answered.</summary>
    public long Operations { get; private set; }

    public int Expired { get; private set; }

    public int Events { get; private set; }

    public bool IsGood => Lost.Count + Twice.Count + Stale.Count + Left.Count + Missed.Count + Faults.Count == 0;

    public static ZooVerdict Of(IReadOnlyList<ZooLife> lives, ZooAudit audit)
    {
        var verdict = new ZooVerdict();
        var writes = new AcknowledgedWrites(lives);
        foreach (var life in lives)
        {
            verdict.Operations += life.Entries.Count(entry => entry.IsReply);
            verdict.Expired += life.Entries.Count(entry => entry.Act == ZooAct.Expired);
            verdict.Events += life.Entries.Count(entry => entry.Act == ZooAct.Event);
            verdict.Faults.AddRange(life.Faults);
            new SessionJudge(life, writes, verdict).Judge();
        }

        CountJudge.Judge(lives, audit, verdict);
        LockJudge.Judge(lives, verdict);
        QueueJudge.Judge(lives, audit, verdict);
        EphemeralJudge.Judge(lives, audit, verdict);
        return verdict;
    }

    public IEnumerable<string> Told(int most) => Faults.Select(one => $"wrong packet: {one}").Take(most)
        .Concat(Lost.Select(one => $"lost: {one}").Take(most))
        .Concat(Twice.Select(one => $"twice: {one}").Take(most))
        .Concat(Stale.Select(one => $"stale: {one}").Take(most))
        .Concat(Left.Select(one => $"left: {one}").Take(most))
        .Concat(Missed.Select(one => $"missed: {one}").Take(most));

    public override string ToString() =>
        $"operations={Operations} expired={Expired} lost={Lost.Count} twice={Twice.Count} stale={Stale.Count} "
        + $"ephemerals_left={Left.Count} watches_missed={Missed.Count}";
}
