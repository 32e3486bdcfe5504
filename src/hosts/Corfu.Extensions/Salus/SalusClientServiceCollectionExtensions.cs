using System.Diagnostics.CodeAnalysis;
using Corfu.Extensions;
using Microsoft.Extensions.Configuration;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Volumes of Salus in a host.</summary>
public static class SalusClientServiceCollectionExtensions
{
    private static readonly HostClients<SalusClientSettings, ISalusConnection, SalusHostConnection> s_clients = new(
        "salus-client", new SalusClientSettingsValidator(),
        static (settings, loggers, time) => new SalusHostConnection(settings, loggers, time),
        static (connection, time) => new SalusClientHealthCheck(connection, time));

    /// <summary>Registers <see cref="ISalusConnection"/>, whose connection the whole host shares. Settings are
    /// validated before the host starts, all faults in one message; the start then waits for the log. Health check
    /// <c>salus-client</c>, tag <c>ready</c>. Called again, it changes the settings.</summary>
    public static IServiceCollection AddSalusClient(
        this IServiceCollection services, Action<SalusClientSettings> configure) =>
        s_clients.Add(services, null, configure);

    /// <summary><see cref="AddSalusClient(IServiceCollection, Action{SalusClientSettings})"/> with defaults for the
    /// rest.</summary>
    public static IServiceCollection AddSalusClient(this IServiceCollection services, string connectionString) =>
        services.AddSalusClient(settings => settings.ConnectionString = connectionString);

    /// <summary><see cref="AddSalusClient(IServiceCollection, Action{SalusClientSettings})"/> with the settings of a
    /// section of the configuration. A name that is no setting is an error at the start.</summary>
    [RequiresUnreferencedCode(Sections.BindsByReflection)]
    [RequiresDynamicCode(Sections.BindsByReflection)]
    public static IServiceCollection AddSalusClient(this IServiceCollection services, IConfiguration section) =>
        services.AddSalusClient(section.BindTo);

    /// <summary>As <see cref="AddSalusClient(IServiceCollection, Action{SalusClientSettings})"/>, for one of several
    /// stores: <see cref="ISalusConnection"/> is registered with the key. Health check
    /// <c>salus-client-KEY</c>.</summary>
    public static IServiceCollection AddKeyedSalusClient(
        this IServiceCollection services, string key, Action<SalusClientSettings> configure)
    {
        ArgumentException.ThrowIfNullOrEmpty(key);
        return s_clients.Add(services, key, configure);
    }

    /// <summary><see cref="AddKeyedSalusClient(IServiceCollection, string, Action{SalusClientSettings})"/> with
    /// defaults for the rest.</summary>
    public static IServiceCollection AddKeyedSalusClient(
        this IServiceCollection services, string key, string connectionString) =>
        services.AddKeyedSalusClient(key, settings => settings.ConnectionString = connectionString);
}
