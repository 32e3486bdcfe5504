using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Services;

/// <summary>The planted bugs of ledgers and state machines that the simulator finds, and the checker that must find
/// each, in the order of the rules.</summary>
internal static class ServicesBugs
{
    public static IReadOnlyList<PlantedBug> All { get; } = new ServicesBug[]
    {
        new("fence-not-looked-for", "B3", "an append is acknowledged without a look at what stands below it",
            CheckerNames.LedgerAck, 5, IsMachine: false),
        new("foreign-grant-ignored", "B4", "positions that others were granted below an own append are not read",
            CheckerNames.LedgerAck, 5, IsMachine: false),
        new("acknowledged-out-of-order", "B5", "an entry is acknowledged before those below it",
            CheckerNames.LedgerAck, 5, IsMachine: false),
        new("ledgers-claim-nothing", "B12", "the log is trimmed below ledgers", CheckerNames.LedgerKept, 11,
            IsMachine: false),
        new("duplicate-runs", "M1", "a number of a session runs as often as it is sent", CheckerNames.MachineOnce, 1),
        new("gone-session-is-new", "M2", "an unknown session is taken for a new one", CheckerNames.MachineOnce, 4),
        new("sessions-not-saved", "M3", "a snapshot has no sessions", CheckerNames.MachineEqual, 1),
        new("unchecked-query", "M7", "a query asks nothing of the log", CheckerNames.MachineQuery, 1),
    };

    private sealed record ServicesBug(
        string Name, string Rule, string What, string Checker, ulong Hint, bool IsMachine = true)
        : PlantedBug(Name, Rule, What, Checker, Hint)
    {
        public override string Runs => ServicesRun.Kind;

        public override bool MayShowIn(ulong seed) => ServicesPlan.Of(seed).IsMachine == IsMachine;
    }
}
