using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Runner;

/// <summary>
/// The protocol's named situations. A run that is long enough fails when it misses one: a simulator that no longer gets
/// there proves nothing about it. The others of a run's coverage line are told, not required.
/// </summary>
public static class Situations
{
    /// <summary>Within so many seeds each of <see cref="Common"/> occurs.</summary>
    public const int EnoughSeeds = 200;

    /// <summary>Within so many seeds all occur; CI runs half as many.</summary>
    public const int EnoughSeedsForAll = 1000;

    public static readonly string[] Common =
    [
        "agent replaced an acceptor",
        "agent replaced the sequencer",
        "agent took a unit out",
        "append denied",
        "append lost to a fill",
        "append refused by a full disk",
        "append resolved without its epoch",
        "append unknown",
        "call refused in a transaction",
        "capacity changed",
        "change by a client denied",
        "claim below the released refused",
        "connecting failed",
        "decision came late",
        "deleted object left memory",
        "deleted object refused",
        "disk of a serving unit lost",
        "disk use bounded",
        "entry completed by another",
        "entry copied to a joining replica",
        "feed resumed",
        "fill sent",
        "foreign append refused",
        "foreign append resolved",
        "forged projection refused",
        "item delivered again",
        "joining replica became full",
        "lock acquired",
        "log scrubbed",
        "log trimmed under objects",
        "lost append settled as Appended",
        "lost append settled as NotAppended",
        "map checkpoint restored",
        "member removed from a group",
        "name of a deleted object used again",
        "number of replicas changed",
        "object deleted",
        "object forked",
        "object stopped by its code",
        "object stopped in older code",
        "opening met a trim",
        "operation given up",
        "page found damaged",
        "past state read",
        "position granted again in a later epoch",
        "reader holds the log",
        "rebuild met a hole",
        "rebuilt while the first agent was cut off",
        "projection of a client not known yet",
        "reconfiguration failed",
        "refused by a grant",
        "refused by the mark or the epoch",
        "removed member refused",
        "removed unit came back",
        "removed unit formatted itself anew",
        "request denied",
        "seal raced with install",
        "segment cleaned",
        "segment migrated",
        "segment opened",
        "segments merged",
        "slot not numbered",
        "snapshot was too old",
        "stream handed over",
        "stream reader met a trim",
        "token crossed an epoch",
        "transaction Aborted",
        "transaction Committed",
        "transaction decided by the sequencer",
        "transaction spilled",
        "two reconfigurers proposed",
        "unit replaced",
        "unit retired",
        "unit stopped by its disk",
        "unit stopped by its disk while it started",
        "update refused",
        "wild ballot refused",
        "wild position refused",
        "wild projection refused",
        "wild seal refused",
        "write refused in a transaction",
    ];

    public static readonly string[] Rare =
    [
        "append met a trim",
        "append resolved as not appended",
        "delivery was over",
        "fill of a grant that died with its epoch",
        "group stopped in older code",
        "guarded write refused",
        "opening was in doubt",
        "owner knew that its lease was over",
        "scrub mended a page",
        "transaction Unknown",
        "trimmed behind a sleeping client",
    ];

    /// <summary>Situations that a run of these seeds had to reach, and did not.</summary>
    /// <param name="also">Required however few the seeds are.</param>
    public static string[] MissingIn(IReadOnlyCollection<SeedResult> results, params IEnumerable<string> also)
    {
        IEnumerable<string> required = also;
        if (results.Count >= EnoughSeeds) required = required.Concat(Common);
        if (results.Count >= EnoughSeedsForAll) required = required.Concat(Rare);
        return [.. required.Where(situation => !results.Any(r => r.Marks.ContainsKey(situation)))];
    }
}
