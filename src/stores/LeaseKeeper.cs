using Tango;

namespace Corfu;

/// <summary>Keeps a lease of an object of the log, and asks for another when it was lost. Thread-safe.</summary>
/// <typeparam name="TTerm">The lease, and what the caller knows of it.</typeparam>
internal sealed class LeaseKeeper<TTerm> : IAsyncDisposable
    where TTerm : class
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(500);

    private readonly Func<CancellationToken, Task<TTerm>> _grant;
    private readonly Func<TTerm, TangoLease> _leaseOf;
    private readonly Action? _changed;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _keeping;

    // Null: none is held, as far as is known here.
    private volatile TTerm? _term;

    /// <param name="changed">Called when a lease was granted, and when it is lost, before it is ended. Quick.</param>
    public LeaseKeeper(Func<CancellationToken, Task<TTerm>> grant, Func<TTerm, TangoLease> leaseOf, Action? changed,
        TimeProvider time, LoopContext loops)
    {
        (_grant, _leaseOf, _changed, _time) = (grant, leaseOf, changed, time);
        _keeping = loops.RunAsync(KeepAsync);
    }

    public TTerm? Term => _term;

    /// <summary>Why there is no lease, as the last attempt heard.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>Ends the lease.</summary>
    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _keeping;
    }

    private async Task KeepAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                var term = await _grant(_stop.Token);
                await using var lease = _leaseOf(term);
                Failure = null;
                Set(term);
                await UntilLostAsync(lease);
                // Others may count on the end of the lease from here on: its owner has stopped before.
                Set(null);
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e) when (e is CorfuException or TangoException)
            {
                // The log is away, the outcome is unknown, or the owner is refused.
                Failure = e;
                await PauseAsync();
            }
        }
    }

    private void Set(TTerm? term)
    {
        _term = term;
        _changed?.Invoke();
    }

    private async Task UntilLostAsync(TangoLease lease)
    {
        var lost = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var ending = lease.Lost.UnsafeRegister(static task => ((TaskCompletionSource)task!).TrySetResult(), lost);
        using var stopping = _stop.Token.UnsafeRegister(
            static task => ((TaskCompletionSource)task!).TrySetResult(), lost);
        await lost.Task;
    }

    private async Task PauseAsync()
    {
        try
        {
            await Task.Delay(s_retry, _time, _stop.Token);
        }
        catch (OperationCanceledException)
        {
            // The loop ends.
        }
    }
}
