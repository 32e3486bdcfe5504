namespace Corfu.Transport.Tests;

/// <summary>Waits for what another thread brings about; the runner's time-out is the limit.</summary>
internal static class Poll
{
    public static async Task UntilAsync(Func<bool> condition)
    {
        while (!condition()) await Task.Yield();
    }
}
