using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Services;

/// <summary>The planted bugs of ledgers, stores and state machines that the simulator finds, and the checker that must
/// find each, in the order of the rules.</summary>
internal static class ServicesBugs
{
    public static IReadOnlyList<PlantedBug> All { get; } = new ServicesBug[]
    {
        new("fence-not-looked-for", "B3", "an append is acknowledged without a look at what stands below it",
            CheckerNames.LedgerAck, 5, ServiceKind.Ledgers),
        new("foreign-grant-ignored", "B4", "positions that others were granted below an own append are not read",
            CheckerNames.LedgerAck, 5, ServiceKind.Ledgers),
        new("acknowledged-out-of-order", "B5", "an entry is acknowledged before those below it",
            CheckerNames.LedgerAck, 5, ServiceKind.Ledgers),
        new("playback-passes-holes", "B7, B11", "a ledger's end and its confirmed entries are taken above holes",
            CheckerNames.LedgerAck, 5, ServiceKind.Ledgers),
        new("ledgers-claim-nothing", "B12", "the log is trimmed below ledgers", CheckerNames.LedgerKept, 11,
            ServiceKind.Ledgers),
        new("trim-is-told-to-readers", "B15", "a reader that meets a trim does not ask where the ledger is",
            CheckerNames.LedgerKept, 11, ServiceKind.Ledgers),
        new("value-after-its-record", "K1", "a record names values that may not be in the log", CheckerNames.StoreRead,
            123, ServiceKind.Store),
        new("any-age-of-values", "K2", "values may be older than what the log is kept for", CheckerNames.StoreRead, 1,
            ServiceKind.Store),
        new("mixed-views", "K5", "keys are of one view, and values of an older one", CheckerNames.StoreRead, 1,
            ServiceKind.Store),
        new("cache-by-item", "K6", "values are cached by their numbers", CheckerNames.StoreRead, 1,
            ServiceKind.Store),
        new("reads-from-a-later-view", "K7", "operations read what they have written", CheckerNames.StoreRead, 1,
            ServiceKind.Store),
        new("guards-not-checked", "K8", "a value may change between its comparison and the decision",
            CheckerNames.StoreRevision, 1, ServiceKind.Store),
        new("refusals-count", "K9", "a record that changes no key has a revision", CheckerNames.StoreRevision, 1,
            ServiceKind.Store),
        new("watch-starts-at-the-view", "K10", "a watch begins behind what its process has", CheckerNames.StoreWatch,
            1, ServiceKind.Store),
        new("move-unchecked", "K12", "a move takes effect on the newest version", CheckerNames.StoreRead, 1,
            ServiceKind.Store),
        new("doubt-sent-again", "K13", "a write in doubt is sent again", CheckerNames.StoreRevision, 1,
            ServiceKind.Store),
        new("any-version-ends", "K15", "an expiry ends a lease that was renewed since", CheckerNames.StoreLease, 1,
            ServiceKind.Store),
        new("lease-keeps-what-it-lost", "K15", "a lease ends keys that were put again without it",
            CheckerNames.StoreLease, 23, ServiceKind.Store),
        new("store-claims-nothing", "K2", "the log is trimmed below values", CheckerNames.StoreRead, 1,
            ServiceKind.Store),
        new("duplicate-runs", "M1", "a number of a session runs as often as it is sent", CheckerNames.MachineOnce, 2),
        new("gone-session-is-new", "M2", "an unknown session is taken for a new one", CheckerNames.MachineOnce, 3),
        new("sessions-not-saved", "M3", "a snapshot has no sessions", CheckerNames.MachineEqual, 2),
        new("captured-in-a-batch", "M4", "a snapshot has run the batch from which its loader goes on",
            CheckerNames.MachineEqual, 2),
        new("unchecked-query", "M7", "a query asks nothing of the log", CheckerNames.MachineQuery, 2),
        new("time-runs-back", "M11", "a command runs at its writer's time", CheckerNames.MachineEqual, 2),
    };

    private sealed record ServicesBug(
        string Name, string Rule, string What, string Checker, ulong Hint,
        ServiceKind Service = ServiceKind.Machine)
        : PlantedBug(Name, Rule, What, Checker, Hint)
    {
        public override string Runs => ServicesRun.Kind;

        public override bool MayShowIn(ulong seed) => ServicesPlan.Of(seed).Service == Service;
    }
}
