using System.Diagnostics.CodeAnalysis;
using Corfu.Client;
using Corfu.Extensions;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Corfu clients in a host.</summary>
public static class CorfuClientServiceCollectionExtensions
{
    internal const string BindsByReflection = "Settings are bound from configuration by reflection; set them in code.";

    /// <summary>Registers <see cref="ICorfuConnection"/>, whose client the whole host shares. Settings are validated
    /// before the host starts, all faults in one message; the start then waits for the cluster. Health check
    /// <c>corfu-client</c>, tag <c>ready</c>. Called again, it changes the settings.</summary>
    public static IServiceCollection AddCorfuClient(
        this IServiceCollection services, Action<CorfuClientSettings> configure) => Add(services, null, configure);

    /// <summary><see cref="AddCorfuClient(IServiceCollection, Action{CorfuClientSettings})"/> with defaults for the
    /// rest.</summary>
    public static IServiceCollection AddCorfuClient(this IServiceCollection services, string connectionString) =>
        services.AddCorfuClient(settings => settings.ConnectionString = connectionString);

    /// <summary><see cref="AddCorfuClient(IServiceCollection, Action{CorfuClientSettings})"/> with the settings of a
    /// section of the configuration. A name that is no setting is an error at the start.</summary>
    [RequiresUnreferencedCode(BindsByReflection)]
    [RequiresDynamicCode(BindsByReflection)]
    public static IServiceCollection AddCorfuClient(this IServiceCollection services, IConfiguration section) =>
        services.AddCorfuClient(settings => section.Bind(settings, BindStrictly));

    /// <summary>As <see cref="AddCorfuClient(IServiceCollection, Action{CorfuClientSettings})"/>, for one of several
    /// clusters: <see cref="ICorfuConnection"/> is registered with the key. Health check
    /// <c>corfu-client-KEY</c>.</summary>
    public static IServiceCollection AddKeyedCorfuClient(
        this IServiceCollection services, string key, Action<CorfuClientSettings> configure)
    {
        ArgumentException.ThrowIfNullOrEmpty(key);
        return Add(services, key, configure);
    }

    /// <summary><see cref="AddKeyedCorfuClient(IServiceCollection, string, Action{CorfuClientSettings})"/> with
    /// defaults for the rest.</summary>
    public static IServiceCollection AddKeyedCorfuClient(
        this IServiceCollection services, string key, string connectionString) =>
        services.AddKeyedCorfuClient(key, settings => settings.ConnectionString = connectionString);

    internal static void BindStrictly(BinderOptions options) => options.ErrorOnUnknownConfiguration = true;

    private static IServiceCollection Add(
        IServiceCollection services, string? key, Action<CorfuClientSettings> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        // The implementation has a key in any case: the options' name.
        var name = key ?? Options.Options.DefaultName;
        services.AddOptionsWithValidateOnStart<CorfuClientSettings>(name).Configure(configure);
        if (services.Any(added => added.IsKeyedService && added.ServiceType == typeof(CorfuConnection)
            && Equals(added.ServiceKey, name))) return services;
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IValidateOptions<CorfuClientSettings>, CorfuClientSettingsValidator>());
        services.TryAddSingleton(TimeProvider.System);
        services.AddKeyedSingleton(name, (provider, _) => new CorfuConnection(
            provider.GetRequiredService<IOptionsMonitor<CorfuClientSettings>>().Get(name),
            provider.GetRequiredService<ILoggerFactory>(), provider.GetRequiredService<TimeProvider>()));
        if (key is null) services.AddSingleton<ICorfuConnection>(Connection);
        else services.AddKeyedSingleton<ICorfuConnection>(key, (provider, _) => Connection(provider));
        services.AddSingleton<IHostedService>(Connection);
        services.AddHealthChecks().Add(new HealthCheckRegistration(
            key is null ? "corfu-client" : $"corfu-client-{key}",
            provider => new CorfuClientHealthCheck(Connection(provider), provider.GetRequiredService<TimeProvider>()),
            null, ["ready"]));
        return services;

        CorfuConnection Connection(IServiceProvider provider) =>
            provider.GetRequiredKeyedService<CorfuConnection>(name);
    }
}
