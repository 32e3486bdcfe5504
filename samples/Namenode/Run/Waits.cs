namespace NamenodeSample.Run;

/// <summary>The waits of a run. Each has a bound, and replaces namenodes that end by themselves meanwhile.</summary>
internal sealed class Waits(Namenodes namenodes, TimeSpan bound)
{
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(5);

    /// <param name="wait">Is cancelled at the bound.</param>
    /// <param name="goal">The end of "within 60 s, ...", for the error.</param>
    /// <param name="fault">A namenode that the run itself has ended or stopped: it is replaced later.</param>
    /// <exception cref="RunException">The wait has met its bound.</exception>
    public async Task<T> ForAsync<T>(
        Func<CancellationToken, Task<T>> wait, string goal, CallProcess? fault, CancellationToken cancellationToken)
    {
        long began = TimeProvider.System.GetTimestamp();
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await namenodes.MendAsync(fault, cancellationToken);
        Task<T> waiting = wait(late.Token);
        try
        {
            while (await Task.WhenAny(waiting, Task.Delay(s_poll, cancellationToken)) != waiting)
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (TimeProvider.System.GetElapsedTime(began) > bound)
                    throw new RunException($"Within {bound.TotalSeconds:0} s, {goal}: {States()}");
                await namenodes.MendAsync(fault, cancellationToken);
            }

            return await waiting;
        }
        finally
        {
            await late.CancelAsync();
            await ((Task)waiting).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    /// <inheritdoc cref="ForAsync{T}"/>
    public Task ForAsync(Func<CancellationToken, Task> wait, string goal, CancellationToken cancellationToken) =>
        ForAsync(
            async token =>
            {
                await wait(token);
                return true;
            },
            goal, fault: null, cancellationToken);

    private string States() =>
        string.Join("; ", namenodes.All.Select(static one => $"{one.Name} {one.LastWords ?? "runs"}"));
}
