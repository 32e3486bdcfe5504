using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Metrics;
using Corfu.Extensions;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Tango in a host.</summary>
public static class TangoServiceCollectionExtensions
{
    /// <summary>
    /// Registers <see cref="ITangoHost"/> over the client of
    /// <see cref="CorfuClientServiceCollectionExtensions.AddCorfuClient(IServiceCollection,
    /// Action{CorfuClientSettings})"/>.
    /// Health check <c>tango</c>, tag <c>ready</c>. With an <see cref="IMeterFactory"/>, as hosts have, figures of each
    /// hosted object. Called again, it changes the settings.
    /// </summary>
    public static TangoServicesBuilder AddTango(
        this IServiceCollection services, Action<TangoSettings>? configure = null) => Add(services, null, configure);

    /// <summary><see cref="AddTango(IServiceCollection, Action{TangoSettings})"/> with the settings of a section of the
    /// configuration. A name that is no setting is an error at the start.</summary>
    [RequiresUnreferencedCode(Sections.BindsByReflection)]
    [RequiresDynamicCode(Sections.BindsByReflection)]
    public static TangoServicesBuilder AddTango(this IServiceCollection services, IConfiguration section) =>
        services.AddTango(section.BindTo);

    /// <summary>As <see cref="AddTango(IServiceCollection, Action{TangoSettings})"/>, for one of several runtimes:
    /// <see cref="ITangoHost"/> and the contexts are registered with the key. Health check <c>tango-KEY</c>.</summary>
    /// <param name="configure"><see cref="TangoSettings.ClientKey"/> says over which client.</param>
    public static TangoServicesBuilder AddKeyedTango(
        this IServiceCollection services, string key, Action<TangoSettings>? configure = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(key);
        return Add(services, key, configure);
    }

    private static TangoServicesBuilder Add(
        IServiceCollection services, string? key, Action<TangoSettings>? configure)
    {
        // The implementation has a key in any case: the options' name.
        var name = key ?? Options.Options.DefaultName;
        var options = services.AddOptionsWithValidateOnStart<TangoSettings>(name);
        if (configure is not null) options.Configure(configure);
        var builder = new TangoServicesBuilder(services, key);
        if (services.Any(added => added.IsKeyedService && added.ServiceType == typeof(TangoHost)
            && Equals(added.ServiceKey, name))) return builder;
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IValidateOptions<TangoSettings>, TangoSettingsValidator>());
        services.TryAddSingleton(TimeProvider.System);
        services.AddKeyedSingleton(name, (provider, _) => NewHost(provider, key));
        if (key is null) services.AddSingleton<ITangoHost>(Host);
        else services.AddKeyedSingleton<ITangoHost>(key, (provider, _) => Host(provider));
        services.AddHealthChecks().Add(new HealthCheckRegistration(
            key is null ? "tango" : $"tango-{key}",
            provider => new TangoHealthCheck(Host(provider), provider.GetRequiredService<TimeProvider>()),
            null, ["ready"]));
        return builder;

        TangoHost Host(IServiceProvider provider) => provider.GetRequiredKeyedService<TangoHost>(name);
    }

    private static TangoHost NewHost(IServiceProvider provider, string? key)
    {
        var settings = provider.GetRequiredService<IOptionsMonitor<TangoSettings>>()
            .Get(key ?? Options.Options.DefaultName);
        var connection = settings.ClientKey is { } client
            ? provider.GetRequiredKeyedService<ICorfuConnection>(client)
            : provider.GetRequiredService<ICorfuConnection>();
        return new TangoHost(
            connection, settings, key, provider.GetService<IMeterFactory>(),
            provider.GetRequiredService<ILoggerFactory>(), provider.GetRequiredService<TimeProvider>());
    }
}
