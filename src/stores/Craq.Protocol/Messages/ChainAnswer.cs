namespace Craq.Protocol;

/// <summary>The view that refusals bring.</summary>
internal static class ChainAnswer
{
    // Last in every body that has it: what follows a failed status is a view, or nothing.
    public static void WriteView(Status status, ChainView? view, ref WireWriter w)
    {
        if (!Brings(status)) return;
        w.Bool(view is not null);
        if (view is not null) w.View(view);
    }

    public static ChainView? ReadView(Status status, ref WireReader r) =>
        Brings(status) && r.Remaining > 0 && r.Bool() ? r.View() : null;

    private static bool Brings(Status status) => status is Status.Sealed or CraqStatus.WrongRole;
}
