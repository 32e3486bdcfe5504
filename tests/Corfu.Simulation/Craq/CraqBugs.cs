using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Craq;

/// <summary>The planted bugs of the object store and the checker that must find each.</summary>
internal static class CraqBugs
{
    public static IReadOnlyList<PlantedBug> All { get; } = new CraqBug[]
    {
        new("clean-too-early", "C4", "the head cleans what it has durable", CheckerNames.CommittedOnly, 1),
        new("inherits-as-committed", "C5", "what a new tail holds counts as committed before its epoch opens",
            CheckerNames.ObjectLinear, 667),
        new("stale-tail", "C6", "a strong read at the tail asks no other member", CheckerNames.ObjectLinear, 574),
        new("tail-believes-itself", "C6", "a strong read asks the tail alone", CheckerNames.ObjectLinear, 574),
        new("promotes-before-open", "C8", "a change follows one that has not opened", CheckerNames.Fence, 25,
            static plan => plan.Has(CraqFault.Reorder) || plan.Has(CraqFault.SetOptions)),
        new("retry-applies-again", "C13", "a repeated write is applied again", CheckerNames.Once, 3),
        new("craq-install-not-durable", "C12", "an install is answered before it is durable",
            CheckerNames.Fence, 1),
        new("refuses-by-dirty", "C3", "a compare fails by what is not committed", CheckerNames.ObjectLinear, 10),
        new("increments-the-clean", "C14", "the head evaluates on the committed version", CheckerNames.ObjectLinear, 1),
        new("passes-on-before-durable", "C2", "a record is passed on while it is written", CheckerNames.ChainLog, 1),
        new("ack-from-the-middle", "C4", "a middle acknowledges", CheckerNames.CommittedOnly, 2),
        new("session-shows-dirty", "C18", "a session sees uncommitted versions", CheckerNames.Session, 2),
    };
}
