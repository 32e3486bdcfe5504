using Corfu.Extensions;
using Corfu.ZooKeeper.Hosting;
using Microsoft.Extensions.Hosting;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>ZooKeeper's protocol in a host.</summary>
public static class CorfuZooKeeperServiceCollectionExtensions
{
    /// <summary>
    /// Serves a tree to clients of ZooKeeper's protocol while the host runs, over the client of
    /// <see cref="CorfuClientServiceCollectionExtensions.AddCorfuClient(IServiceCollection, string)"/>. The start waits
    /// until the front end serves. Called again, it adds a front end.
    /// </summary>
    public static IServiceCollection AddCorfuZooKeeper(
        this IServiceCollection services, ZooKeeperFrontEndOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        var key = new object();
        services.AddKeyedSingleton(key, (provider, _) => new ZooKeeperFrontEndService(
            provider.GetRequiredService<ICorfuConnection>(), options, provider.GetRequiredService<ILoggerFactory>()));
        services.AddSingleton(provider => provider.GetRequiredKeyedService<ZooKeeperFrontEndService>(key));
        // AddHostedService would take the second of a type for a repetition.
        return services.AddSingleton<IHostedService>(
            provider => provider.GetRequiredKeyedService<ZooKeeperFrontEndService>(key));
    }
}
