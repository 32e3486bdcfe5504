using Corfu.Simulation.Checkers;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Runner;

/// <summary>
/// The planted bugs and the checker that must find each. Found means: that checker fires on some seed, and the same
/// seed passes without the bug, with one hash in two processes; a crash or a time-out does not count.
/// </summary>
public static class PlantedBugs
{
    /// <summary>Seeds tried per bug.</summary>
    public const int MostSeeds = 2000;

    private const string NoneInThisBuild = "no planted bugs in this build: build with -p:Planted=true";

    private static readonly PlantedBug[] s_bugs =
    [
        new("unit-acks-before-durable", "R4", "answers before the flush", CheckerNames.UnitDurable, 3),
        new("seal-not-logged", "R4", "a seal is answered and not written", CheckerNames.SealedEpoch, 1),
        new("trim-mark-forgotten", "R3, R5", "a restarted unit has forgotten the prefix trim", CheckerNames.UnitDurable,
            84, static p => p.Trims),
        new("start-not-honoured", "R7", "a new sequencer counts from below the epoch's start", CheckerNames.TokenUnique,
            1),
        new("ack-at-head", "R9", "an append is acknowledged before the chain's tail has it", CheckerNames.AckComplete,
            1, HasChain),
        new("retry-without-resolving", "R9", "a time-out counts as not written", CheckerNames.ExactlyOnce, 4),
        new("already-written-is-mine", "R9", "AlreadyWritten counts as success whoever wrote", CheckerNames.AckComplete,
            27),
        new("writer-without-sequence", "R9", "a bare writer id is taken for the append's identity",
            CheckerNames.AckComplete, 1567),
        new("bound-ignored", "R9", "an entry is written at or above its caller's bound", CheckerNames.ExactlyOnce, 9,
            IsWild),
        new("fill-at-once", "R10", "a hole is filled without waiting", CheckerNames.FillRule, 5),
        new("fill-ungranted", "R10", "positions are filled that were not granted", CheckerNames.FillRule, 3),
        new("resolve-fills-ungranted", "R10", "resolving an append fills its position, granted or not",
            CheckerNames.FillRule, 9, IsWild),
        new("no-epoch-is-older", "R9", "an append without its epoch counts as one of an ended epoch",
            CheckerNames.ExactlyOnce, 9, IsWild),
        new("fill-skips-head", "R10", "junk goes to the replicas behind the head",
            CheckerNames.ChainPrefix, 1, HasChain),
        new("read-at-head", "R11", "what is not known committed is read at the head", CheckerNames.ReadCommitted, 1,
            HasChain),
        new("unconfirmed-check", "checks", "a check believes its epoch without asking", CheckerNames.Check, 210),
        new("seal-any-replica", "R13", "any replica's seal will do", CheckerNames.SealComplete, 15),
        new("tails-from-one-chain", "streams", "stream tails are asked of the first chain only",
            CheckerNames.StreamWalk, 4),
        new("junk-ends-the-walk", "R8", "a walk ends where all backpointers are bare junk", CheckerNames.StreamWalk,
            17),
        new("no-relearning", "R10", "what an ended epoch granted counts as read", CheckerNames.StreamWalk, 17),
        new("one-acceptor-is-enough", "R12", "the projection is read from one acceptor", CheckerNames.OneProjection, 9,
            static p => p.Acceptors > 1),
        new("acceptor-forgets", "R12", "an acceptor promises and does not write it down", CheckerNames.OneProjection,
            17),
        new("conflict-off-by-one", "R18", "a write at the snapshot's end is no conflict", CheckerNames.Transactions, 7,
            IsTango),
        new("forgets-old-versions-unmarked", "R18", "versions that are too old go, and the mark stays",
            CheckerNames.Transactions, 48, static p => p.ForgetsVersions),
        new("tail-counts-as-played", "R10", "views claim the tail though grants below it may be void",
            CheckerNames.Transactions, 1768, IsTango),
        new("hash-order", "determinism", "waits depend on the process's hash seed", CheckerNames.Determinism, 1),
        new("trim-at-head-only", "R5", "a trim that is met is brought to the head only", CheckerNames.TrimComplete, 23,
            static p => p.Trims && HasChain(p)),
        new("unit-serves-what-it-has-not-installed", "R14", "requests of an epoch are served before it is installed",
            CheckerNames.SealedEpoch, 1),
        new("install-not-durable", "R14", "an install is answered before it is durable", CheckerNames.SealedEpoch, 23,
            static p => p.Has(FaultKind.PowerCut)),
        new("copy-without-filling", "R15", "a rebuild copies and leaves the holes",
            CheckerNames.Membership, 33, HasSpares),
        new("joining-is-read", "R15", "joining replicas are read", CheckerNames.Membership, 7, HasSpares),
        new("full-before-it-is-rebuilt", "R15", "a joining replica becomes full at once", CheckerNames.Membership, 7,
            HasSpares),
        new("rebuilt-without-stream-tails", "R15, R22", "a rebuilt unit does not know the streams of what is trimmed",
            CheckerNames.StreamTails, 500, static p => p.Trims && HasSpares(p)),
        new("slow-check-forgets-the-trimmed", "R22", "a slow check does not know the streams below the trim mark",
            CheckerNames.StreamTails, 527, static p => p.Trims),
        new("chain-within-its-segment", "R1", "chains are counted from the segment's first position",
            CheckerNames.NothingLost, 69, HasSpares),
        new("removed-units-return", "R2", "a unit that was removed may join again",
            CheckerNames.Membership, 124, HasAgents),
        new("reformatted-before-the-decision", "R2", "a unit formats itself anew when its removal is proposed",
            CheckerNames.Membership, 292, HasAgents),
        new("torn-tail-is-a-page", "R6", "a half-written record at the log's end is kept", CheckerNames.UnitDurable, 4,
            static p => p.Has(FaultKind.TornWrite)),
        new("returning-mutator-reads-nothing", "R16", "a mutator that returns a value adds nothing to the read set",
            CheckerNames.Transactions, 10, IsTango),
        new("reads-without-a-snapshot", "R17", "each read of a transaction sees the newest view", CheckerNames.Opacity,
            10, IsTango),
        new("joins-above-its-position", "R17", "an object that is opened misses what came while it joined",
            CheckerNames.Transactions, 48, IsTango),
        new("spills-are-not-fetched", "R19", "a commit record's spilled writes are passed over",
            CheckerNames.Transactions, 10, static p => p.Spills),
        new("scan-passes-holes", "R10", "a cursor that reads what is new passes over holes",
            CheckerNames.StreamWalk, 55),
        new("snapshot-moves-unchecked", "R17", "a snapshot moves on though what was read has changed",
            CheckerNames.Transactions, 14, IsTango),
        new("undecided-is-committed", "R20", "who does not host the read set takes a commit record for committed",
            CheckerNames.Transactions, 16, IsTango),
        new("probe-decides-all-alike", "R20", "orphans that read the same are decided alike, whatever came between",
            CheckerNames.Decisions, 371, IsTango),
        new("deletion-concerns-what-was-before", "R20", "who reads an object that is deleted later aborts",
            CheckerNames.Decisions, 25, static p => p.Deletes),
        new("member-joins-late", "R20", "a host that is behind misses what a new member had before it heard of it",
            CheckerNames.ViewsEqual, 189, static p => p.Grows),
        new("removed-member-still-written", "R20", "some hosts go on with a member behind its removal",
            CheckerNames.ViewsEqual, 106, static p => p.Grows && p.Removes && p.Checkpoints),
        new("unreadable-counts-as-unchanged", "R20, R23", "what this code cannot read leaves versions as they were",
            CheckerNames.Decisions, 197, static p => p.TwoVersions),
        new("rebuilt-keeps-its-view", "R23", "an object that is played anew keeps its view",
            CheckerNames.Transactions, 10, static p => p.Stumbles),
        new("a-refusal-ends-its-transaction", "R23", "the writes behind a refused one are not applied",
            CheckerNames.Transactions, 10, IsTango),
        new("trimmed-is-skipped", "R22", "playback passes over what was trimmed", CheckerNames.StreamWalk, 39,
            static p => p.Trims),
        new("release-ignores-a-claim", "releases", "a release heeds units only, not readers", CheckerNames.TrimPoint,
            7, static p => p.TrimsObjects),
        new("trim-before-the-record-is-applied", "releases", "the prefix is trimmed while the release is on its way",
            CheckerNames.TrimPoint, 457, static p => p.TrimsObjects),
        new("claim-below-released-accepted", "releases", "a reader may claim what is released",
            CheckerNames.TrimPoint, 105, static p => p.TrimsObjects),
        new("checkpoint-without-versions", "R21", "what is loaded from a checkpoint has no versions",
            CheckerNames.ViewsEqual, 7, static p => p.Checkpoints),
        new("loader-skips-one-entry", "R21", "playback goes on one position above a checkpoint's end",
            CheckerNames.ViewsEqual, 150, static p => p.Checkpoints),
        new("checkpoint-without-pending-decisions", "R20, R21", "a checkpoint names no commit records that wait",
            CheckerNames.Awaited, 482, static p => p.Checkpoints),
        new("checkpoint-of-a-stopped-view", "R21, R23", "a checkpoint is made of a view that stopped",
            CheckerNames.ViewsEqual, 133, static p => p.Checkpoints && p.Stumbles),
        new("group-checkpointed-at-two-positions", "R21", "one member of a group is captured before the others",
            CheckerNames.ViewsEqual, 149, static p => p.Checkpoints),
        new("incomplete-checkpoint-counts", "R21", "a claim rises though its checkpoint is not in the log",
            CheckerNames.TrimPoint, 31, static p => p.Checkpoints && p.TrimsObjects),
        new("forget-ignores-undecided-records", "R20, R21", "a claim rises above what an undecided record reads",
            CheckerNames.TrimPoint, 134, static p => p.Checkpoints && p.TrimsObjects),
        new("forget-ignores-live-places", "R22", "a claim rises above values that an object holds in the log",
            CheckerNames.TrimPoint, 647, static p => p.Indexes && p.TrimsObjects),
        new("deleted-is-served", "deletion", "a deleted object's open handles go on", CheckerNames.Deleted, 14,
            static p => p.Deletes),
        new("feed-repeats-where-it-resumes", "feeds", "a feed that is resumed repeats the change before",
            CheckerNames.Feed, 14, static p => p.Feeds),
        new("past-one-entry-early", "past states", "a past state lacks the entry below its position",
            CheckerNames.Past, 14, static p => p.Feeds),
        new("fork-played-from-nothing", "R22", "a fork is played without its first state",
            CheckerNames.Past, 14, static p => p.Forks),
        new("two-holders-one-token", "coordination", "the numbers of a lock that is free begin anew", CheckerNames.Lock,
            2, IsCoordination),
        new("any-version-expires", "coordination", "an expiry ends a lease that was renewed since", CheckerNames.Lock,
            41, IsCoordination),
        new("expires-without-silence", "coordination", "an observer expires leases long before their time",
            CheckerNames.Silence, 2, IsCoordination),
        new("old-token-completes", "coordination", "an item is completed by a delivery that is over",
            CheckerNames.Work, 224, IsCoordination),
        new("called-receiver-is-robbed", "coordination", "an item for a receiver in line goes to one that came by",
            CheckerNames.Work, 2, IsCoordination),
        new("call-goes-with-its-receiver", "coordination", "a called receiver that leaves keeps its item from all",
            CheckerNames.Liveness, 2, IsCoordination),
        new("scan-reads-no-range", "R18", "a read of the whole object adds nothing to the read set",
            CheckerNames.Phantom, 5, IsCoordination),
        new("full-disks-acknowledge", "R4", "a page is acknowledged for which there was no room",
            CheckerNames.UnitDurable, 17, static p => p.Has(FaultKind.FullDisk)),
        new("damaged-is-unwritten", "R4", "a page that is found damaged is answered as unwritten",
            CheckerNames.UnitDurable, 4, static p => p.Has(FaultKind.Misread) || p.Has(FaultKind.DamagedPage)),
        new("cleaner-drops-a-live-page", "R5", "the cleaner takes live pages for dead ones", CheckerNames.UnitDurable,
            9),
        new("segment-freed-before-its-pages", "R4, R5", "a segment goes before what was moved out of it is durable",
            CheckerNames.UnitDurable, 1),
        new("restored-map-is-current", "R3", "pages behind a restored checkpoint are not replayed",
            CheckerNames.UnitDurable, 3),
        new("any-position-is-in-reach", "R13", "a unit takes fills and trims however far above the log's end",
            CheckerNames.SealComplete, 9, IsWild),
        new("any-epoch-is-sealed", "R13", "a unit is sealed however far above the epoch that it knows",
            CheckerNames.Liveness, 9, IsWild),
        new("any-epoch-is-installed", "R14", "a unit installs an epoch however far above the one that it knows",
            CheckerNames.Liveness, 9, IsWild),
        new("any-ballot-is-promised", "R12", "an acceptor promises the highest ballot of all",
            CheckerNames.Liveness, 9, IsWild),
        new("work-is-not-passed-on", "agents", "an agent that cannot rebuild a unit keeps the others out",
            CheckerNames.Liveness, 103, static p => p.Agents is { CutsOffRebuilder: true }),
        new("any-process-is-a-watcher", "agents", "processes without a live agent count as watchers",
            CheckerNames.Liveness, 5533, static p => p.Agents is { Count: > 4 }),
        new("bulk-copies-wait-for-nothing", "R4", "many copies are answered before they are durable",
            CheckerNames.UnitDurable, 414, HasSpares),
    ];

    private static bool IsTango(SeedPlan plan) => plan.Kind == WorkloadKind.Tango;

    private static bool IsCoordination(SeedPlan plan) => plan.Kind == WorkloadKind.Coordination;

    private static bool HasChain(SeedPlan plan) => plan.Replicas > 1;

    private static bool HasSpares(SeedPlan plan) => plan.Spares > 0;

    private static bool HasAgents(SeedPlan plan) => plan.Agents is not null;

    private static bool IsWild(SeedPlan plan) => plan.Has(FaultKind.WildPositions);

    /// <summary>Switches a bug on. False, with a message, where this build has none.</summary>
    public static bool Switch(string? name, TextWriter error)
    {
        if (PlantedSwitch.Turn(name)) return true;
        error.WriteLine(NoneInThisBuild);
        return false;
    }

    /// <summary>From how many starts the table's medians are taken.</summary>
    public const int TableStarts = 5;

    /// <param name="which">A bug's name, <c>all</c>, or <c>table</c>: all of them from several starts, and a table for
    /// docs/testing-simulator.md.</param>
    /// <param name="start">First seed for every bug; null begins near the seed where each was found last, and the table
    /// at 1.</param>
    /// <param name="workers">Bugs hunted at once.</param>
    public static int Hunt(string which, ulong? start, int workers, TextWriter output)
    {
        if (!PlantedSwitch.IsBuiltIn)
        {
            output.WriteLine(NoneInThisBuild);
            return 2;
        }

        bool table = which == "table";
        PlantedBug[] bugs = table || which == "all" ? s_bugs : [.. s_bugs.Where(b => b.Name == which)];
        if (bugs.Length == 0)
        {
            output.WriteLine(
                $"no planted bug is called {which}; there are: {string.Join(", ", s_bugs.Select(b => b.Name))}");
            return 2;
        }

        // Starts that lie apart: no hunt meets another's seeds unless it takes very long.
        ulong[] starts = table
            ? [.. Enumerable.Range(0, TableStarts).Select(i => (start ?? 1) + ((ulong)i * 10_000))]
            : start is { } one ? [one] : [];
        var hunt = new BugHunt(starts, workers, output);
        int found = hunt.Run(bugs);
        if (table) WriteTable(bugs, hunt.Needed, output);
        output.WriteLine($"planted {bugs.Length} found {found}");
        return found == bugs.Length ? 0 : 1;
    }

    private static void WriteTable(PlantedBug[] bugs, IReadOnlyDictionary<string, List<int>> needed, TextWriter output)
    {
        output.WriteLine(
            $"| planted bug | rule | what it does | checker | median seeds (most) of {TableStarts} starts |");
        output.WriteLine("|---|---|---|---|---|");
        foreach (PlantedBug bug in bugs)
        {
            int[] seeds = needed.TryGetValue(bug.Name, out List<int>? all) ? [.. all.Order()] : [];
            string median = seeds.Length == 0 ? "not found" : $"{seeds[seeds.Length / 2]} ({seeds[^1]})";
            output.WriteLine($"| `{bug.Name}` | {bug.Rule} | {bug.What} | `{bug.Checker}` | {median} |");
        }
    }
}
