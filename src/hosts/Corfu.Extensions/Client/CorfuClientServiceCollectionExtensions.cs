using System.Diagnostics.CodeAnalysis;
using Corfu.Extensions;
using Microsoft.Extensions.Configuration;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Corfu clients in a host.</summary>
public static class CorfuClientServiceCollectionExtensions
{
    private static readonly HostClients<CorfuClientSettings, ICorfuConnection, CorfuConnection> s_clients = new(
        "corfu-client", new CorfuClientSettingsValidator(),
        static (settings, loggers, time) => new CorfuConnection(settings, loggers, time),
        static (connection, time) => new CorfuClientHealthCheck(connection, time));

    /// <summary>Registers <see cref="ICorfuConnection"/>, whose client the whole host shares. Settings are validated
    /// before the host starts, all faults in one message; the start then waits for the cluster. Health check
    /// <c>corfu-client</c>, tag <c>ready</c>. Called again, it changes the settings.</summary>
    public static IServiceCollection AddCorfuClient(
        this IServiceCollection services, Action<CorfuClientSettings> configure) =>
        s_clients.Add(services, null, configure);

    /// <summary><see cref="AddCorfuClient(IServiceCollection, Action{CorfuClientSettings})"/> with defaults for the
    /// rest.</summary>
    public static IServiceCollection AddCorfuClient(this IServiceCollection services, string connectionString) =>
        services.AddCorfuClient(settings => settings.ConnectionString = connectionString);

    /// <summary><see cref="AddCorfuClient(IServiceCollection, Action{CorfuClientSettings})"/> with the settings of a
    /// section of the configuration. A name that is no setting is an error at the start.</summary>
    [RequiresUnreferencedCode(Sections.BindsByReflection)]
    [RequiresDynamicCode(Sections.BindsByReflection)]
    public static IServiceCollection AddCorfuClient(this IServiceCollection services, IConfiguration section) =>
        services.AddCorfuClient(section.BindTo);

    /// <summary>As <see cref="AddCorfuClient(IServiceCollection, Action{CorfuClientSettings})"/>, for one of several
    /// clusters: <see cref="ICorfuConnection"/> is registered with the key. Health check
    /// <c>corfu-client-KEY</c>.</summary>
    public static IServiceCollection AddKeyedCorfuClient(
        this IServiceCollection services, string key, Action<CorfuClientSettings> configure)
    {
        ArgumentException.ThrowIfNullOrEmpty(key);
        return s_clients.Add(services, key, configure);
    }

    /// <summary><see cref="AddKeyedCorfuClient(IServiceCollection, string, Action{CorfuClientSettings})"/> with
    /// defaults for the rest.</summary>
    public static IServiceCollection AddKeyedCorfuClient(
        this IServiceCollection services, string key, string connectionString) =>
        services.AddKeyedCorfuClient(key, settings => settings.ConnectionString = connectionString);
}
