using Corfu.Extensions;
using Corfu.Grpc;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Tango;
using Tango.Collections;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>The services of <c>corfu.tango.v1</c> in a host.</summary>
internal static class TangoServices
{
    /// <summary>The host's default runtime serves them; its types are those that calls may name.</summary>
    public static void Add(IServiceCollection services)
    {
        TangoErrors.Add();
        services.AddTango(static settings => settings.Runtime.Types
            .Add<TangoDictionary<string, byte[]>>()
            .Add<TangoLeasedDictionary<string, byte[]>>()
            .Add<TangoWorkQueue<byte[]>>()
            .Add<TangoLock>());
        services.AddOptions<TangoSettings>().PostConfigure<IOptions<CorfuGrpcOptions>>(static (settings, grpc) =>
        {
            var own = grpc.Value.Tango;
            settings.Runtime = settings.Runtime with
            {
                MaxRemoteCohorts = own.MaxObjects ?? settings.Runtime.MaxRemoteCohorts,
                RemoteStay = own.ObjectStay ?? settings.Runtime.RemoteStay,
            };
        });
        services.TryAddSingleton<HostStop>();
        services.AddSingleton<OpenObjects>();
        services.AddSingleton<RememberedTransactions>();
        services.AddSingleton<TransactionRunner>();
        services.AddSingleton(typeof(OpenLists<>));
        services.AddSingleton<Sessions>();
        services.AddCorfuGrpcService<ObjectsEndpoint>();
        services.AddCorfuGrpcService<DictionariesEndpoint>();
        services.AddCorfuGrpcService<SessionsEndpoint>();
        services.AddCorfuGrpcService<LocksEndpoint>();
        services.AddCorfuGrpcService<QueuesEndpoint>();
        services.AddCorfuGrpcService<LeasedDictionariesEndpoint>();
        services.AddCorfuGrpcService<TransactionsEndpoint>();
    }

    public static IEndpointConventionBuilder Map(IEndpointRouteBuilder endpoints) => new EndpointGroup(
    [
        endpoints.MapGrpcService<ObjectsEndpoint>(),
        endpoints.MapGrpcService<DictionariesEndpoint>(),
        endpoints.MapGrpcService<SessionsEndpoint>(),
        endpoints.MapGrpcService<LocksEndpoint>(),
        endpoints.MapGrpcService<QueuesEndpoint>(),
        endpoints.MapGrpcService<LeasedDictionariesEndpoint>(),
        endpoints.MapGrpcService<TransactionsEndpoint>(),
    ]);
}
