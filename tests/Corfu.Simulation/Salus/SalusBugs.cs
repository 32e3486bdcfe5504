using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Salus;

/// <summary>The planted bugs of the block store and the checker that must find each, in the order of the
/// rules.</summary>
internal static class SalusBugs
{
    // No seed is known that shows the bug.
    private const ulong None = 0;

    // Each shows several bugs, and is run without them once.
    private static readonly ulong[] s_shared = [1, 3, 4, 5];

    public static IReadOnlyList<PlantedBug> All { get; } = new SalusBug[]
    {
        new("certificate-of-any-members", "S1", "a certificate counts with fewer signatures than members",
            CheckerNames.Unanimous, 32,
            static plan => plan.Has(SalusFault.ShortCertificate)),
        new("signs-index-twice", "S2", "a member signs two contents of one index", CheckerNames.Unanimous, 93,
            static plan => plan.Has(SalusFault.Equivocate)),
        new("vote-before-durable", "S3", "a member prepares before its store is durable", CheckerNames.Ordered, 1),
        new("two-of-three", "S3", "a region votes with two of three members", CheckerNames.Ordered, 1),
        new("leader-skips-predecessor", "S4", "a leader decides before the batch before is committed",
            CheckerNames.Ordered, 1),
        new("new-leader-starts-above", "S5", "a new generation collects no votes of what it adopted",
            CheckerNames.Live, 6),
        new("serves-before-admitted", "S6", "a generation takes batches before it is admitted",
            CheckerNames.OneGeneration, 1),
        new("restart-keeps-generation", "S7", "a restarted process signs as the one before", CheckerNames.Unanimous, 12,
            static plan => plan.Has(SalusFault.KillNode) || plan.Has(SalusFault.PowerCut)),
        new("sealed-store-takes-records", "S8", "a sealed store takes records of the ended generation",
            CheckerNames.OneGeneration, None,
            CutsOff),
        new("replaced-without-waiting", "S8", "a generation reads before the one before has ended",
            CheckerNames.OneGeneration, None,
            CutsOff),
        new("older-generation-counts", "S9", "records of an earlier generation count above the next one's opening",
            CheckerNames.Ordered, None),
        new("unadmitted-anchors", "S9", "a generation that was never admitted is an anchor",
            CheckerNames.Ordered, None),
        new("first-log-wins", "S10", "a recovery takes the log of one store", CheckerNames.Ordered, None),
        new("any-checkpoint-counts", "S10", "a region is opened at any file of its number", CheckerNames.Root, None),
        new("resume-trusts-the-region", "S11", "a driver admits a region without comparing",
            CheckerNames.Ordered, None),
        new("report-before-fence", "S12", "a region reports before it refuses the lower run",
            CheckerNames.Ordered, None,
            static plan => plan.Has(SalusFault.StopWriter)),
        new("run-not-checked", "S12", "a region takes batches of any run", CheckerNames.OneWriter, None,
            static plan => plan.Has(SalusFault.StopWriter) || plan.Has(SalusFault.KillWriter)),
        new("get-without-commit", "S14", "a member answers a read without the commit that it carries",
            CheckerNames.Accusation, 1),
        new("batches-by-number", "S15", "batches of two runs with one number are one", CheckerNames.Root, None,
            static plan => plan.Has(SalusFault.StopWriter) || plan.Has(SalusFault.KillWriter)),
        new("any-participant-counts", "S15", "a batch counts that one participant has", CheckerNames.Ordered, None),
        new("void-only-the-refused", "S16", "a refused batch alone is void", CheckerNames.Ordered, None,
            static plan => plan.Has(SalusFault.FullDisk)),
        new("cut-at-own-size", "S17", "a member cuts at a place of its own", CheckerNames.SameFiles, 5),
        new("cut-overtakes-compaction", "S18", "a cut is carried out before the compaction below",
            CheckerNames.SameFiles, None,
            static plan => plan.Snapshots > 0 && plan.Memtables < 1 << 30),
        new("freed-at-own-floor", "S19", "records and files go below the newest checkpoint",
            CheckerNames.Retention, None),
        new("inputs-freed-before-manifest", "S19", "the inputs of a compaction go before the log knows the output",
            CheckerNames.Retention, 1),
        new("forgets-a-copy-in-need", "S19", "a store drops a region that a generation may be recovered from",
            CheckerNames.Retention, None),
        new("delete-on-request", "S19", "a member deletes what its primary asks for", CheckerNames.Retention, 98,
            static plan => plan.Has(SalusFault.AskDelete)),
        new("shortest-report-wins", "S20", "a run begins at the lowest proof", CheckerNames.LossTold, 4),
        new("others-stay-ahead", "S21", "a region keeps what an operator gave up", CheckerNames.Prefix, 128,
            static plan => plan.MayLose),
        new("snapshot-at-arrival", "S22", "a snapshot has what came behind its marker", CheckerNames.Snapshot, 3,
            static plan => plan.Snapshots > 0),
        new("discard-keeps-its-leaf", "S23", "a discarded block keeps its leaf", CheckerNames.Root, 3),
        new("discard-frees-at-once", "S23", "a discard takes the block from snapshots", CheckerNames.Retention, 4,
            static plan => plan.Snapshots > 0 && plan.Clears > 0),
        new("void-keeps-leaves", "S24", "undone batches leave their leaves", CheckerNames.Root, 128),
        new("ordered-when-ready", "S25", "a batch has its requests in another order", CheckerNames.Fresh, 1,
            static plan => plan.Workers > 1),
    };

    /// <summary>Bugs that a seed is known to show.</summary>
    public static IReadOnlyList<PlantedBug> Found { get; } = [.. All.Where(static bug => bug.Hint != None)];

    /// <summary>Bugs that are found within seconds.</summary>
    public static IReadOnlyList<PlantedBug> Quick { get; } = [.. Found.Where(bug => s_shared.Contains(bug.Hint))];

    // Members go on that do not know of their end.
    private static bool CutsOff(SalusPlan plan) =>
        plan.Has(SalusFault.Pause) || plan.Has(SalusFault.LogUnreachable);
}
