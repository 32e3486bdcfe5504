using System.Diagnostics.CodeAnalysis;
using Corfu.Extensions;
using Microsoft.Extensions.Configuration;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>CRAQ clients in a host.</summary>
public static class CraqClientServiceCollectionExtensions
{
    private static readonly HostClients<CraqClientSettings, ICraqConnection, CraqConnection> s_clients = new(
        "craq-client", new CraqClientSettingsValidator(),
        static (settings, loggers, time) => new CraqConnection(settings, loggers, time),
        static (connection, time) => new CraqClientHealthCheck(connection, time));

    /// <summary>Registers <see cref="ICraqConnection"/>, whose client the whole host shares. Settings are validated
    /// before the host starts, all faults in one message; the start then waits for a node. Health check
    /// <c>craq-client</c>, tag <c>ready</c>. Called again, it changes the settings.</summary>
    public static IServiceCollection AddCraqClient(
        this IServiceCollection services, Action<CraqClientSettings> configure) =>
        s_clients.Add(services, null, configure);

    /// <summary><see cref="AddCraqClient(IServiceCollection, Action{CraqClientSettings})"/> with defaults for the
    /// rest.</summary>
    public static IServiceCollection AddCraqClient(this IServiceCollection services, string connectionString) =>
        services.AddCraqClient(settings => settings.ConnectionString = connectionString);

    /// <summary><see cref="AddCraqClient(IServiceCollection, Action{CraqClientSettings})"/> with the settings of a
    /// section of the configuration. A name that is no setting is an error at the start.</summary>
    [RequiresUnreferencedCode(Sections.BindsByReflection)]
    [RequiresDynamicCode(Sections.BindsByReflection)]
    public static IServiceCollection AddCraqClient(this IServiceCollection services, IConfiguration section) =>
        services.AddCraqClient(section.BindTo);

    /// <summary>As <see cref="AddCraqClient(IServiceCollection, Action{CraqClientSettings})"/>, for one of several
    /// stores: <see cref="ICraqConnection"/> is registered with the key. Health check
    /// <c>craq-client-KEY</c>.</summary>
    public static IServiceCollection AddKeyedCraqClient(
        this IServiceCollection services, string key, Action<CraqClientSettings> configure)
    {
        ArgumentException.ThrowIfNullOrEmpty(key);
        return s_clients.Add(services, key, configure);
    }

    /// <summary><see cref="AddKeyedCraqClient(IServiceCollection, string, Action{CraqClientSettings})"/> with defaults
    /// for the rest.</summary>
    public static IServiceCollection AddKeyedCraqClient(
        this IServiceCollection services, string key, string connectionString) =>
        services.AddKeyedCraqClient(key, settings => settings.ConnectionString = connectionString);
}
