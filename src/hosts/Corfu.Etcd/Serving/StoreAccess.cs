using System.Diagnostics;
using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>Runs calls on the store, once there is one: the log may not answer yet.</summary>
internal sealed class StoreAccess : IDisposable
{
    // A client takes a connection that opens for a front end that serves, and does not repeat a write by itself.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource _open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile ServedStore? _current;

    /// <summary>Null: the store is not open.</summary>
    public ServedStore? Current
    {
        get => _current;
        set
        {
            _current = value;
            if (value is not null) _open.TrySetResult();
        }
    }

    /// <summary>Ends calls that wait, and streams. Their clients go on at other front ends.</summary>
    public void Stop() => _stop.Cancel();

    public void Dispose() => _stop.Dispose();

    /// <summary>Runs a call, and gives its failure the code and the text of etcd's.</summary>
    /// <param name="method">As <c>Range</c>.</param>
    public Task<T> RunAsync<T>(
        string method, ServerCallContext context, Func<ServedStore, CancellationToken, Task<T>> call) =>
        MeasureAsync(method, context, async token => await call(
            await RequireAsync(token).ConfigureAwait(false), token).ConfigureAwait(false), EtcdErrors.Of);

    /// <summary>Runs a call that may wait for ever: it ends when the front end stops, as etcd ends it.</summary>
    /// <param name="method">As <c>Watch</c>.</param>
    public Task<T> RunLongAsync<T>(
        string method, ServerCallContext context, Func<ServedStore, CancellationToken, Task<T>> call) =>
        MeasureAsync(method, context, async token =>
        {
            using var ends = CancellationTokenSource.CreateLinkedTokenSource(token, _stop.Token);
            try
            {
                var served = await RequireAsync(ends.Token).ConfigureAwait(false);
                return await call(served, ends.Token).ConfigureAwait(false);
            }
            catch (Exception) when (_stop.IsCancellationRequested && !token.IsCancellationRequested)
            {
                throw EtcdErrors.Stopped;
            }
        }, EtcdErrors.OfStream);

    private static async Task<T> MeasureAsync<T>(string method, ServerCallContext context,
        Func<CancellationToken, Task<T>> call, Func<Exception, RpcException?> toError)
    {
        var start = Stopwatch.GetTimestamp();
        var code = StatusCode.Unknown;
        try
        {
            var answer = await call(context.CancellationToken).ConfigureAwait(false);
            code = StatusCode.OK;
            return answer;
        }
        catch (Exception e) when (context.CancellationToken.IsCancellationRequested)
        {
            code = StatusCode.Cancelled;
            throw new RpcException(new Status(code, "context canceled", e));
        }
        catch (RpcException e)
        {
            var error = toError(e) ?? e;
            code = error.StatusCode;
            throw error;
        }
        catch (Exception e) when (toError(e) is { } error)
        {
            code = error.StatusCode;
            throw error;
        }
        finally
        {
            EtcdTelemetry.OnCall(method, code, Stopwatch.GetElapsedTime(start));
        }
    }

    /// <exception cref="RpcException">The store is not open: clients try another front end.</exception>
    private async ValueTask<ServedStore> RequireAsync(CancellationToken cancellationToken)
    {
        if (Current is { } open) return open;
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _stop.Token);
        try
        {
            await _open.Task.WaitAsync(s_patience, end.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            throw EtcdErrors.Stopped;
        }
        catch (TimeoutException)
        {
            throw EtcdErrors.NoLeader;
        }

        return Current ?? throw EtcdErrors.Stopped;
    }
}
