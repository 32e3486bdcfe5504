using Grpc.Core;

namespace Corfu.Load;

/// <summary>A bidirectional call that returns every message as it came. Messages are bytes, so neither side parses:
/// what is left is gRPC itself.</summary>
internal static class BytesEcho
{
    private static readonly Marshaller<byte[]> Bytes =
        new((message, context) => context.Complete(message), context => context.PayloadAsNewBuffer());

    public static Method<byte[], byte[]> Method { get; } =
        new(MethodType.DuplexStreaming, "corfu.load.Echo", nameof(BytesEchoService.Echo), Bytes, Bytes);
}

/// <summary>The server's side, bound by hand because nothing is generated. ASP.NET Core looks for a virtual
/// method.</summary>
[BindServiceMethod(typeof(BytesEchoService), nameof(Bind))]
internal class BytesEchoService
{
    /// <summary>Called without a service to find the methods, and with it to bind them.</summary>
    public static void Bind(ServiceBinderBase binder, BytesEchoService? service)
    {
        DuplexStreamingServerMethod<byte[], byte[]>? handler = service is null ? null : service.Echo;
        binder.AddMethod(BytesEcho.Method, handler);
    }

    public virtual async Task Echo(
        IAsyncStreamReader<byte[]> requests, IServerStreamWriter<byte[]> responses, ServerCallContext context)
    {
        while (await requests.MoveNext(context.CancellationToken))
            await responses.WriteAsync(requests.Current, context.CancellationToken);
    }
}
