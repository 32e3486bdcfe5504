using Grpc.Core;
using Grpc.Core.Interceptors;

namespace Corfu.Grpc;

/// <summary>Checks each call against its row of <see cref="MethodAccess"/> and the limits of its caller, before the
/// service sees it. Streams of requests are checked by their services, message by message.</summary>
internal sealed class AccessInterceptor(CallerAccess access, CallerLimits limits) : Interceptor
{
    private static readonly Demand s_caller = new(CorfuPolicies.Caller, null);

    public override async Task<TResponse> UnaryServerHandler<TRequest, TResponse>(
        TRequest request, ServerCallContext context, UnaryServerMethod<TRequest, TResponse> continuation)
    {
        await AdmitAsync(request, context);
        return await continuation(request, context);
    }

    public override async Task ServerStreamingServerHandler<TRequest, TResponse>(
        TRequest request, IServerStreamWriter<TResponse> responseStream, ServerCallContext context,
        ServerStreamingServerMethod<TRequest, TResponse> continuation)
    {
        await AdmitAsync(request, context);
        await continuation(request, responseStream, context);
    }

    public override async Task<TResponse> ClientStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream, ServerCallContext context,
        ClientStreamingServerMethod<TRequest, TResponse> continuation)
    {
        await access.RequireAsync(context, [s_caller]);
        return await continuation(requestStream, context);
    }

    public override async Task DuplexStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream, IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context, DuplexStreamingServerMethod<TRequest, TResponse> continuation)
    {
        await access.RequireAsync(context, [s_caller]);
        await continuation(requestStream, responseStream, context);
    }

    private async ValueTask AdmitAsync(object request, ServerCallContext context)
    {
        var demands = MethodAccess.Of(context.Method).Demands(request);
        await access.RequireAsync(context, demands.Prepend(s_caller));
        limits.Admit(request, demands, context);
    }
}
