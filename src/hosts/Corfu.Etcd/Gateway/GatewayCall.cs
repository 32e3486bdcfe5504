using Grpc.Core;
using Microsoft.AspNetCore.Http;

namespace Corfu.Etcd.Gateway;

/// <summary>The context of a call that came as JSON. Services use its token alone.</summary>
internal sealed class GatewayCall(HttpContext http) : ServerCallContext
{
    protected override string MethodCore => http.Request.Path.Value ?? "";

    protected override string HostCore => http.Request.Host.Value ?? "";

    protected override string PeerCore => http.Connection.RemoteIpAddress?.ToString() ?? "";

    protected override DateTime DeadlineCore => DateTime.MaxValue;

    protected override Metadata RequestHeadersCore { get; } = [];

    protected override CancellationToken CancellationTokenCore => http.RequestAborted;

    protected override Metadata ResponseTrailersCore { get; } = [];

    protected override Status StatusCore { get; set; }

    protected override WriteOptions? WriteOptionsCore { get; set; }

    protected override AuthContext AuthContextCore { get; } = new(null, []);

    protected override ContextPropagationToken CreatePropagationTokenCore(ContextPropagationOptions? options) =>
        throw new NotSupportedException("A call that came as JSON calls nothing.");

    protected override Task WriteResponseHeadersAsyncCore(Metadata responseHeaders) => Task.CompletedTask;
}
