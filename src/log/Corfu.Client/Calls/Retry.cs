namespace Corfu.Client;

/// <summary>The result of one attempt at an operation: a value, or the status for which it is repeated.</summary>
internal readonly record struct Attempt<T>(bool IsDone, T Value, Status Status)
{
    public static implicit operator Attempt<T>(T value) => new(true, value, Status.Ok);

    public static implicit operator Attempt<T>(Status status) => new(false, default!, status);
}

/// <summary>The client's only way to try again.</summary>
/// <remarks>
/// 1. A value, or a status that no further attempt can change, ends the operation.
/// 2. Sealed: the epoch is over, so the next attempt waits for a newer one.
/// 3. Any other status, or no answer: a pause, which ends early with the epoch.
/// 4. After <see cref="CorfuClientOptions.OperationTimeout"/> the operation is given up.
/// </remarks>
internal sealed class Retry(ProjectionHolder projections, ProjectionRefresher refresher, ClientClock clock,
    IEntropy entropy, CorfuClientOptions options)
{
    /// <summary>Tries until there is a value, each time under the newest epoch known.</summary>
    /// <exception cref="LogUnavailableException">The time is up.</exception>
    public async ValueTask<T> RunAsync<T>(
        string what, Func<EpochView, ValueTask<Attempt<T>>> attempt, CancellationToken cancellationToken)
    {
        RetryBudget? budget = null;
        while (true)
        {
            clock.ThrowIfClosed();
            cancellationToken.ThrowIfCancellationRequested();
            var view = projections.Current;
            Status? status = null;
            TransportException? silent = null;
            try
            {
                // 1.
                var result = await attempt(view);
                if (result.IsDone) return result.Value;
                status = result.Status;
            }
            catch (TransportException e)
            {
                silent = e;
            }

            budget ??= Budget(what);
            await AfterAsync(status, silent, view, budget, cancellationToken);
        }
    }

    /// <summary>As above, for an operation without a value: done when the attempt returns Ok.</summary>
    public async ValueTask RunAsync(
        string what, Func<EpochView, ValueTask<Status>> attempt, CancellationToken cancellationToken) =>
        await RunAsync<bool>(
            what, async view => await attempt(view) is var status and not Status.Ok ? status : true, cancellationToken);

    /// <summary>Waits for a projection above <paramref name="epoch"/>.</summary>
    public ValueTask NewerThanAsync(string what, Epoch epoch, CancellationToken cancellationToken) =>
        refresher.NewerThanAsync(epoch, Budget(what), cancellationToken);

    /// <summary>Made at an operation's first failure.</summary>
    public RetryBudget Budget(string what) => new(what, clock, entropy, options);

    /// <summary>Returns when the next attempt may begin.</summary>
    /// <param name="status">The status that the failed attempt got; null: no answer.</param>
    /// <exception cref="CorfuException">No further attempt can change the status, or the time is up.</exception>
    public async ValueTask AfterAsync(Status? status, TransportException? silent, EpochView view, RetryBudget budget,
        CancellationToken cancellationToken)
    {
        // 2.
        if (status == Status.Sealed)
        {
            await refresher.NewerThanAsync(view.Epoch, budget, cancellationToken);
            return;
        }

        // 1., 3., 4.
        if (status is { } refusal && !IsTransient(refusal)) throw CorfuStatusException.Create(refusal, budget.What);
        await refresher.PauseAsync(
            budget, view.Epoch, silent?.Message ?? $"a node says {status}.", silent, cancellationToken);
    }

    private static bool IsTransient(Status status) => status is
        Status.NotInstalled or Status.NotBootstrapped or Status.Overloaded or Status.Failed or Status.NoSpace
        or Status.WrongNode or Status.UnknownStream or Status.Unready;
}
