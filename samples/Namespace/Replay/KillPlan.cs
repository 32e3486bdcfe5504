namespace NamespaceSample.Replay;

/// <summary>Processes that are killed.</summary>
public enum KillTarget
{
    Replayer,
    Host,
    Node,
}

/// <summary>Which processes a replay kills, and when: spread over the history; mostly replayers and hosts.</summary>
public sealed class KillPlan(int changes, int kills)
{
    // A fifth are nodes of the cluster.
    private static readonly KillTarget[] s_round =
        [KillTarget.Replayer, KillTarget.Host, KillTarget.Replayer, KillTarget.Host, KillTarget.Node];

    private readonly int[] _counts = new int[Enum.GetValues<KillTarget>().Length];

    public int Done { get; private set; }

    /// <summary>Finds the process to kill now that so many changes have been applied.</summary>
    /// <param name="Index">How many of its kind were killed before.</param>
    public bool TryNext(int applied, out (KillTarget Target, int Index) next)
    {
        next = default;
        if (Done == kills || applied < (long)changes * (Done + 1) / (kills + 1)) return false;
        KillTarget target = s_round[Done % s_round.Length];
        Done++;
        next = (target, _counts[(int)target]++);
        return true;
    }
}
