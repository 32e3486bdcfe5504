using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Extensions;

/// <summary>Registers clients of one kind: a host's code asks for the service, the connection is that.</summary>
/// <param name="Name">The health check's name; a key follows.</param>
internal sealed record HostClients<
    [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicParameterlessConstructor)] TSettings,
    TService, TConnection>(
    string Name, IValidateOptions<TSettings> Validator,
    Func<TSettings, ILoggerFactory, TimeProvider, TConnection> Open,
    Func<TConnection, TimeProvider, IHealthCheck> Check)
    where TSettings : class
    where TService : class
    where TConnection : class, TService, IHostedService
{
    /// <param name="key">Null: the host's only client, or its main one.</param>
    public IServiceCollection Add(IServiceCollection services, string? key, Action<TSettings> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        // The implementation has a key in any case: the options' name.
        var name = key ?? Options.DefaultName;
        services.AddOptionsWithValidateOnStart<TSettings>(name).Configure(configure);
        if (services.Any(added => added.IsKeyedService && added.ServiceType == typeof(TConnection)
            && Equals(added.ServiceKey, name))) return services;
        services.TryAddEnumerable(ServiceDescriptor.Singleton(Validator));
        services.TryAddSingleton(TimeProvider.System);
        services.AddKeyedSingleton(name, (provider, _) => Open(
            provider.GetRequiredService<IOptionsMonitor<TSettings>>().Get(name),
            provider.GetRequiredService<ILoggerFactory>(), provider.GetRequiredService<TimeProvider>()));
        if (key is null) services.AddSingleton<TService>(Connection);
        else services.AddKeyedSingleton<TService>(key, (provider, _) => Connection(provider));
        services.AddSingleton<IHostedService>(Connection);
        services.AddHealthChecks().Add(new HealthCheckRegistration(key is null ? Name : $"{Name}-{key}",
            provider => Check(Connection(provider), provider.GetRequiredService<TimeProvider>()), null, ["ready"]));
        return services;

        TConnection Connection(IServiceProvider provider) => provider.GetRequiredKeyedService<TConnection>(name);
    }
}

/// <summary>Settings of a section of the configuration.</summary>
internal static class Sections
{
    public const string BindsByReflection = "Settings are bound from configuration by reflection; set them in code.";

    /// <summary>A name that is no setting is an error.</summary>
    [RequiresUnreferencedCode(BindsByReflection)]
    [RequiresDynamicCode(BindsByReflection)]
    public static void BindTo(this IConfiguration section, object settings) =>
        section.Bind(settings, static options => options.ErrorOnUnknownConfiguration = true);
}
