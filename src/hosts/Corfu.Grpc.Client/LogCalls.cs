using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;

namespace Corfu.Grpc.Client;

/// <summary>Calls that may be repeated: all but appends. A front end that fails is left for the next.</summary>
internal sealed class LogCalls(FrontEnds frontEnds, GrpcLogOptions options, CancellationToken closed)
{
    /// <exception cref="LogUnavailableException">No front end could answer in time.</exception>
    public async ValueTask<T> RunAsync<T>(
        Func<LogService.LogServiceClient, CallOptions, Task<T>> call, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, closed);
        var deadline = TimeProvider.System.GetUtcNow().UtcDateTime + options.OperationTimeout;
        for (var failures = 1; ; failures++)
        {
            var (client, number) = frontEnds.Current;
            try
            {
                return await call(client, new CallOptions(
                    frontEnds.Headers, deadline, either.Token));
            }
            catch (RpcException e) when (Errors.MayPass(e) && TimeProvider.System.GetUtcNow() < deadline
                && !either.IsCancellationRequested)
            {
                frontEnds.Leave(number);
            }
            catch (RpcException e)
            {
                cancellationToken.ThrowIfCancellationRequested();
                ObjectDisposedException.ThrowIf(closed.IsCancellationRequested, typeof(GrpcCorfuLog));
                throw Errors.ToException(e);
            }

            if (failures % frontEnds.Count == 0) await Task.Delay(options.RetryDelay, either.Token);
        }
    }
}
