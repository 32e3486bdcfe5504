namespace Corfu.Grpc.Tests.Tango;

/// <summary>Waits for what other parties bring about.</summary>
internal static class Poll
{
    /// <exception cref="TimeoutException">The condition did not become true in time.</exception>
    public static async Task UntilAsync(Func<Task<bool>> condition)
    {
        var start = TimeProvider.System.GetTimestamp();
        using var pause = new PeriodicTimer(TimeSpan.FromMilliseconds(10));
        while (!await condition())
        {
            if (TimeProvider.System.GetElapsedTime(start) > Front.Patience)
                throw new TimeoutException("The condition did not become true.");
            await pause.WaitForNextTickAsync();
        }
    }
}
