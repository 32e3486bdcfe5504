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
    /// <returns>The builder for conventions, such as <c>RequireAuthorization()</c>: of all services together, or of
    /// each by its property.</returns>
    /// <exception cref="InvalidOperationException"><c>AddCorfuGrpc</c> was not called.</exception>
    public static CorfuGrpcEndpoints MapCorfu(this IEndpointRouteBuilder endpoints)
    {
        if (endpoints.ServiceProvider.GetService<TailWatcher>() is null)
            throw new InvalidOperationException(
                "MapCorfu needs services.AddCorfuGrpc() and services.AddCorfuClient().");
        var options = endpoints.ServiceProvider.GetRequiredService<IOptions<CorfuGrpcOptions>>().Value;
        var mapped = new CorfuGrpcEndpoints
        {
            Log = endpoints.MapGrpcService<LogEndpoint>(),
            Objects = TangoServices.Map(endpoints),
            Admin = AdminServices.Map(endpoints),
            Health = endpoints.MapGrpcHealthChecksService(),
            Reflection = options.Reflection ? endpoints.MapGrpcReflectionService() : new EndpointGroup([]),
        };
        var gate = endpoints.ServiceProvider.GetRequiredService<CallGate>();
        foreach (var services in (IEndpointConventionBuilder[])[mapped.Log, mapped.Objects, mapped.Admin])
            gate.Guard(services);
        if (!options.RequireRights) return mapped;
        // A caller without credentials is refused before its request is read.
        mapped.RequireAuthorization(CorfuPolicies.Caller);
        mapped.Health.AllowAnonymous();
        return mapped;
    }
}
