using Corfu.Grpc.Protocol;
using Grpc.Core;
using Grpc.Core.Interceptors;
using Microsoft.Extensions.Logging;
using Status = Grpc.Core.Status;

namespace Corfu.Grpc;

/// <summary>Turns a service's exception into the error of its row in <see cref="ErrorTable"/>, and refuses calls that
/// demand another cluster.</summary>
internal sealed partial class ErrorInterceptor(
    ILogSource source, TimeProvider time, ILogger<ErrorInterceptor> logger) : Interceptor
{
    public override async Task<TResponse> UnaryServerHandler<TRequest, TResponse>(
        TRequest request, ServerCallContext context, UnaryServerMethod<TRequest, TResponse> continuation)
    {
        try
        {
            await RequireClusterAsync(context);
            return await continuation(request, context);
        }
        catch (Exception e) when (e is not RpcException)
        {
            throw Translate(e, context);
        }
    }

    public override async Task<TResponse> ClientStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream, ServerCallContext context,
        ClientStreamingServerMethod<TRequest, TResponse> continuation)
    {
        try
        {
            await RequireClusterAsync(context);
            return await continuation(requestStream, context);
        }
        catch (Exception e) when (e is not RpcException)
        {
            throw Translate(e, context);
        }
    }

    public override async Task ServerStreamingServerHandler<TRequest, TResponse>(
        TRequest request, IServerStreamWriter<TResponse> responseStream, ServerCallContext context,
        ServerStreamingServerMethod<TRequest, TResponse> continuation)
    {
        try
        {
            await RequireClusterAsync(context);
            await continuation(request, responseStream, context);
        }
        catch (Exception e) when (e is not RpcException)
        {
            throw Translate(e, context);
        }
    }

    public override async Task DuplexStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream, IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context, DuplexStreamingServerMethod<TRequest, TResponse> continuation)
    {
        try
        {
            await RequireClusterAsync(context);
            await continuation(requestStream, responseStream, context);
        }
        catch (Exception e) when (e is not RpcException)
        {
            throw Translate(e, context);
        }
    }

    private async ValueTask RequireClusterAsync(ServerCallContext context)
    {
        if (context.RequestHeaders.GetValue(FrontEndHeaders.ClusterId) is not { } demanded) return;
        var own = await source.GetClusterIdAsync(context.CancellationToken);
        if (!string.Equals(demanded, own, StringComparison.OrdinalIgnoreCase))
            throw new WrongClusterException(demanded, own);
    }

    private RpcException Translate(Exception e, ServerCallContext context)
    {
        // The client has gone, or its deadline has passed: an exception at the end of the call is of no interest.
        if (context.CancellationToken.IsCancellationRequested)
        {
            var isLate = context.Deadline <= time.GetUtcNow().UtcDateTime;
            return new RpcException(isLate
                ? new Status(StatusCode.DeadlineExceeded, "The deadline has passed.")
                : new Status(StatusCode.Cancelled, "The call was cancelled."));
        }

        if (ErrorTable.IsUnexpected(e)) LogUnexpected(logger, context.Method, e);
        return ErrorTable.ToRpcException(e);
    }

    [LoggerMessage(1, LogLevel.Error, "{Method} failed")]
    private static partial void LogUnexpected(ILogger logger, string method, Exception e);
}
