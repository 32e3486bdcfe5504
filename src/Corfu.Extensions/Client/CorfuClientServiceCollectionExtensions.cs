using Corfu.Extensions;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Corfu clients in a host.</summary>
public static class CorfuClientServiceCollectionExtensions
{
    /// <summary>Registers <see cref="ICorfuConnection"/>, whose client the whole host shares. Settings are validated
    /// before the host starts, all faults in one message; the start then waits for the cluster. Health check
    /// <c>corfu-client</c>, tag <c>ready</c>.</summary>
    public static IServiceCollection AddCorfuClient(this IServiceCollection services,
        Action<CorfuClientSettings> configure)
    {
        services.AddOptionsWithValidateOnStart<CorfuClientSettings>().Configure(configure);
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IValidateOptions<CorfuClientSettings>, CorfuClientSettingsValidator>());
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton<CorfuConnection>();
        services.TryAddSingleton<ICorfuConnection>(provider => provider.GetRequiredService<CorfuConnection>());
        services.AddHostedService(provider => provider.GetRequiredService<CorfuConnection>());
        services.AddHealthChecks().AddCheck<CorfuClientHealthCheck>("corfu-client", tags: ["ready"]);
        return services;
    }

    /// <summary><see cref="AddCorfuClient(IServiceCollection, Action{CorfuClientSettings})"/> with defaults for the
    /// rest.</summary>
    public static IServiceCollection AddCorfuClient(this IServiceCollection services, string connectionString) =>
        services.AddCorfuClient(settings => settings.ConnectionString = connectionString);
}
