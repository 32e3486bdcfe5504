using Corfu.Hosting;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Corfu nodes in a host of your own.</summary>
public static class CorfuNodeServiceCollectionExtensions
{
    /// <summary>Health checks that say whether a restart is needed carry this tag.</summary>
    public const string LiveTag = "live";

    /// <summary>Health checks that say whether the node takes requests carry this tag.</summary>
    public const string ReadyTag = "ready";

    /// <summary>Runs a node, any set of roles behind one listener of its own, with the host. Options are validated
    /// before the host starts, all faults in one message. Health checks <c>corfu-node-live</c> and
    /// <c>corfu-node-ready</c> are registered.</summary>
    public static IServiceCollection AddCorfuNode(this IServiceCollection services, Action<NodeOptions> configure)
    {
        services.AddOptionsWithValidateOnStart<NodeOptions>().Configure(configure);
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IValidateOptions<NodeOptions>, NodeOptionsValidator>());
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton<CorfuNodeService>();
        services.AddHostedService(provider => provider.GetRequiredService<CorfuNodeService>());
        services.AddHealthChecks()
            .AddCheck<NodeLiveCheck>("corfu-node-live", tags: [LiveTag])
            .AddCheck<NodeReadyCheck>("corfu-node-ready", tags: [ReadyTag]);
        return services;
    }
}
