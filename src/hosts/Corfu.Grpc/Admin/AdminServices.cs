using Corfu.Agent;
using Corfu.Grpc;
using Corfu.Grpc.Protocol;
using Grpc.Core;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>The service of <c>corfu.admin.v1</c> in a host.</summary>
internal static class AdminServices
{
    public static void Add(IServiceCollection services)
    {
        ErrorTable.Add(typeof(OperatorFaultException), StatusCode.FailedPrecondition, ErrorReason.OperationRefused);
        ErrorTable.Add(
            typeof(Corfu.Client.ReconfigurationException), StatusCode.FailedPrecondition,
            ErrorReason.OperationRefused);
        services.TryAddSingleton<HostStop>();
        services.AddSingleton<AdminConnection>();
        services.AddCorfuGrpcService<AdminEndpoint>();
    }

    public static IEndpointConventionBuilder Map(IEndpointRouteBuilder endpoints) =>
        endpoints.MapGrpcService<AdminEndpoint>();
}
