using System.Globalization;

namespace Corfu.Agent;

/// <summary>Why an epoch was made, by whom and when, as the text that its projection carries.</summary>
/// <param name="By">An agent's endpoint, or who the operator is.</param>
/// <param name="At">By the clock of whoever it was: for people, never for order.</param>
public sealed record ReconfigurationReason(string Text, bool IsAutomatic, string By, DateTimeOffset At)
{
    private const int MaxText = 1000;
    private const string Separator = " | ";
    private const string Agent = "agent ";
    private const string TimeFormat = "yyyy-MM-ddTHH:mm:ss.fffZ";

    public override string ToString()
    {
        var text = Text.Length <= MaxText ? Text : string.Concat(Text.AsSpan(0, MaxText), "...");
        return string.Create(CultureInfo.InvariantCulture, $"{text}{Separator}{(IsAutomatic ? Agent : "")}{By}{Separator}{At.UtcDateTime.ToString(TimeFormat, CultureInfo.InvariantCulture)}");
    }

    /// <summary>False for what was not made by <see cref="ToString"/>: a client's renewal of a sealed epoch, say.</summary>
    public static bool TryParse(string reason, out ReconfigurationReason parsed)
    {
        parsed = new ReconfigurationReason(reason, false, "", default);
        var time = reason.LastIndexOf(Separator, StringComparison.Ordinal);
        if (time <= 0) return false;
        var by = reason.LastIndexOf(Separator, time - 1, StringComparison.Ordinal);
        if (by < 0) return false;
        if (!DateTimeOffset.TryParseExact(reason[(time + Separator.Length)..], TimeFormat, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var at)) return false;
        var who = reason[(by + Separator.Length)..time];
        var automatic = who.StartsWith(Agent, StringComparison.Ordinal);
        parsed = new ReconfigurationReason(reason[..by], automatic, automatic ? who[Agent.Length..] : who, at);
        return true;
    }
}
