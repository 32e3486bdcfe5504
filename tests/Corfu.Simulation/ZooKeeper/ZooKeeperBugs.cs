using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>The planted bugs of ZooKeeper's tree and the checker that must find each, in the order of the
/// rules.</summary>
internal static class ZooKeeperBugs
{
    public static IReadOnlyList<PlantedBug> All { get; } = new ZooKeeperBug[]
    {
        new("zxid-without-index", "Z1", "records of one entry share a zxid", CheckerNames.ZooKeeperZxid, 1),
        new("events-behind-the-reply", "Z2", "a record's events stand behind its reply", CheckerNames.ZooKeeperOrder,
            1),
        new("reads-overtake-writes", "Z3", "reads are answered before the writes that came before them",
            CheckerNames.ZooKeeperReply, 1),
        new("watch-after-read", "Z4", "a watch is registered behind the effects that follow its read",
            CheckerNames.ZooKeeperWatch, 1),
        new("old-attachment-writes", "Z7", "writes of a session's older attachment take effect",
            CheckerNames.ZooKeeperFence, 1),
        new("any-beat-expires", "Z8", "a session ends though its front end has beaten since",
            CheckerNames.ZooKeeperAlive, 1003),
        new("any-attachment-expires", "Z8", "a session ends though it has attached since",
            CheckerNames.ZooKeeperAlive, 1006),
        new("answers-without-lease", "Z10", "clients are answered behind the lease", CheckerNames.ZooKeeperSilence,
            1122),
        new("close-leaves-nodes", "Z12", "a session ends, and one of its nodes stays",
            CheckerNames.ZooKeeperEphemeral, 1),
        new("session-in-one-stream", "Z13", "records of sessions stand in the root partition's stream alone",
            CheckerNames.ZooKeeperViews, 1002),
        new("create-forgets-its-parent", "Z15", "a create does not write the children of its parent",
            CheckerNames.ZooKeeperViews, 1002),
        new("multi-is-overtaken", "Z16", "writes go on beside a multi across partitions", CheckerNames.ZooKeeperZxid,
            1002),
        new("reload-goes-on", "Z18", "a tree is loaded anew, and its clients stay", CheckerNames.ZooKeeperWatch, 1004),
        new("parts-one-by-one", "Z23", "a read may see a part of a record", CheckerNames.ZooKeeperMulti, 1002),
        new("failed-multi-counts", "Z14", "a multi that failed leaves the changes before its failure",
            CheckerNames.ZooKeeperMulti, 1),
    };

    private sealed record ZooKeeperBug(string Name, string Rule, string What, string Checker, ulong Hint)
        : PlantedBug(Name, Rule, What, Checker, Hint)
    {
        public override string Runs => ZooKeeperRun.Kind;

        public override bool MayShowIn(ulong seed) => true;
    }
}
