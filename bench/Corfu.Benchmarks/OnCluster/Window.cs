namespace Corfu.Benchmarks;

/// <summary>Callers that each have one operation under way until all are done.</summary>
internal static class Window
{
    /// <param name="operation">Gets the caller's number.</param>
    public static Task RunAsync(int callers, int operations, Func<int, ValueTask> operation)
    {
        var left = operations;
        return Task.WhenAll(Enumerable.Range(0, callers).Select(caller => Task.Run(async () =>
        {
            while (Interlocked.Decrement(ref left) >= 0) await operation(caller);
        })));
    }
}
