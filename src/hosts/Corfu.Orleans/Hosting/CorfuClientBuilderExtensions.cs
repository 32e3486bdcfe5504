using Corfu.Orleans;
using Corfu.Orleans.Clustering;
using Corfu.Orleans.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Messaging;

namespace Orleans.Hosting;

/// <summary>Clients of silos whose membership is in a Corfu log.</summary>
public static class CorfuClientBuilderExtensions
{
    /// <summary>Finds the gateways in the log at that address.</summary>
    /// <param name="connectionString"><c>corfu://host:port,...</c></param>
    /// <exception cref="InvalidOperationException">The providers have another log already.</exception>
    public static IClientBuilder UseCorfuClustering(this IClientBuilder builder, string connectionString)
    {
        AddGateways(builder.Services.AddCorfuOrleans(connectionString));
        return builder;
    }

    /// <summary>Finds the gateways in the log of the host's <c>AddCorfuClient</c> and <c>AddTango</c>.</summary>
    public static IClientBuilder UseCorfuClustering(
        this IClientBuilder builder, Action<CorfuOrleansOptions>? configure = null)
    {
        AddGateways(builder.Services.AddCorfuOrleans(configure));
        return builder;
    }

    // As Orleans' providers do it: the last one that is asked for counts.
    private static void AddGateways(IServiceCollection services) =>
        services.AddSingleton<IGatewayListProvider, CorfuGatewayListProvider>();
}
