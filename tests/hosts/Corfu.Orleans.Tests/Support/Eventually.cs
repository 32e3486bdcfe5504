namespace Corfu.Orleans.Tests.Support;

/// <summary>Waits for what other processes bring about, with a limit that only a failure reaches.</summary>
internal static class Eventually
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);

    public static async Task IsTrueAsync(Func<Task<bool>> condition, string what)
    {
        using var limit = new CancellationTokenSource(s_limit);
        using var ticks = new PeriodicTimer(s_pause);
        while (!await condition()) await NextAsync(ticks, what, null, limit.Token);
    }

    /// <summary>Repeats a call that may fail while parts of the system are gone.</summary>
    public static async Task<T> SucceedsAsync<T>(Func<Task<T>> call, string what)
    {
        using var limit = new CancellationTokenSource(s_limit);
        using var ticks = new PeriodicTimer(s_pause);
        while (true)
        {
            try
            {
                return await call();
            }
            catch (Exception e) when (e is not OperationCanceledException || !limit.IsCancellationRequested)
            {
                await NextAsync(ticks, what, e, limit.Token);
            }
        }
    }

    private static async Task NextAsync(PeriodicTimer ticks, string what, Exception? last, CancellationToken limit)
    {
        try
        {
            await ticks.WaitForNextTickAsync(limit);
        }
        catch (OperationCanceledException)
        {
            throw new TimeoutException($"Not within {s_limit}: {what}. {last?.Message}", last);
        }
    }
}
