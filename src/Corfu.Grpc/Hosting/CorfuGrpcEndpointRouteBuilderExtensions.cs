using Corfu.Grpc;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Microsoft.AspNetCore.Builder;

/// <summary>The gRPC front end in an ASP.NET Core host.</summary>
public static class CorfuGrpcEndpointRouteBuilderExtensions
{
    /// <summary>Serves <c>corfu.log.v1</c>, <c>corfu.admin.v1</c>, <c>corfu.tango.v1</c>, the standard health service
    /// and, unless the options say otherwise, reflection. The host listens with HTTP/2; without TLS the listener speaks
    /// HTTP/2 alone.</summary>
    /// <exception cref="InvalidOperationException"><c>AddCorfuGrpc</c> was not called.</exception>
    public static IEndpointRouteBuilder MapCorfu(this IEndpointRouteBuilder endpoints)
    {
        if (endpoints.ServiceProvider.GetService<TailWatcher>() is null)
            throw new InvalidOperationException(
                "MapCorfu needs services.AddCorfuGrpc() and services.AddCorfuClient().");
        endpoints.MapGrpcService<LogEndpoint>();
        TangoServices.Map(endpoints);
        AdminServices.Map(endpoints);
        endpoints.MapGrpcHealthChecksService();
        var options = endpoints.ServiceProvider.GetRequiredService<IOptions<CorfuGrpcOptions>>().Value;
        if (options.Reflection) endpoints.MapGrpcReflectionService();
        return endpoints;
    }
}
