using System.Diagnostics;
using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>Runs calls on the store, once there is one: the log may not answer yet.</summary>
internal sealed class StoreAccess
{
    private volatile ServedStore? _current;

    /// <summary>Null: the store is not open.</summary>
    public ServedStore? Current
    {
        get => _current;
        set => _current = value;
    }

    /// <exception cref="RpcException">The store is not open: clients try another front end.</exception>
    public ServedStore Require() => Current ?? throw EtcdErrors.NoLeader;

    /// <summary>Runs a call, and gives its failure the code and the text of etcd's.</summary>
    /// <param name="method">As <c>Range</c>.</param>
    public async Task<T> RunAsync<T>(
        string method, ServerCallContext context, Func<ServedStore, CancellationToken, Task<T>> call)
    {
        var start = Stopwatch.GetTimestamp();
        var code = StatusCode.Unknown;
        try
        {
            var answer = await call(Require(), context.CancellationToken).ConfigureAwait(false);
            code = StatusCode.OK;
            return answer;
        }
        catch (RpcException e)
        {
            code = e.StatusCode;
            throw;
        }
        catch (Exception e) when (context.CancellationToken.IsCancellationRequested)
        {
            code = StatusCode.Cancelled;
            throw new RpcException(new Status(code, "context canceled", e));
        }
        catch (Exception e) when (EtcdErrors.Of(e) is { } error)
        {
            code = error.StatusCode;
            throw error;
        }
        finally
        {
            EtcdTelemetry.OnCall(method, code, Stopwatch.GetElapsedTime(start));
        }
    }
}
