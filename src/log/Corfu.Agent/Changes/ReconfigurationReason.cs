namespace Corfu.Agent;

/// <summary>Why an agent or an operator made an epoch, as the text that its projection carries.</summary>
/// <param name="By">An agent's endpoint, or the tool that an operator used.</param>
public sealed record ReconfigurationReason(bool IsAutomatic, string By, string Text)
{
    private const string Separator = ": ";
    private const string Agent = "agent ";
    private const string Operator = "operator ";

    public override string ToString() => $"{(IsAutomatic ? Agent : Operator)}{By}{Separator}{Text}";

    /// <summary>False for any other text, as that of a client's renewal of a sealed epoch.</summary>
    public static bool TryParse(string reason, out ReconfigurationReason parsed)
    {
        parsed = new ReconfigurationReason(false, "", reason);
        var automatic = reason.StartsWith(Agent, StringComparison.Ordinal);
        if (!automatic && !reason.StartsWith(Operator, StringComparison.Ordinal)) return false;
        var by = automatic ? Agent.Length : Operator.Length;
        var end = reason.IndexOf(Separator, by, StringComparison.Ordinal);
        if (end < 0) return false;
        parsed = new ReconfigurationReason(automatic, reason[by..end], reason[(end + Separator.Length)..]);
        return true;
    }
}
