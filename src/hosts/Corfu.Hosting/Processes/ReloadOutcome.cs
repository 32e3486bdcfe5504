namespace Corfu.Hosting;

/// <summary>The answer of a node to <c>corfu node reload</c>, left in its folder.</summary>
/// <param name="Changes">Changes that are in force.</param>
/// <param name="NeedRestart">Members of the configuration that have changed, and count from the next start
/// on.</param>
/// <param name="Fault">Why nothing has changed, or null.</param>
public sealed record ReloadOutcome(DateTimeOffset At, ImmutableArray<string> Changes,
    ImmutableArray<string> NeedRestart, string? Fault)
{
    internal const string FileName = "reload.json";
}
