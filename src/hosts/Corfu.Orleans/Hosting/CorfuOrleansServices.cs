using Corfu.Orleans.Clustering;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Runtime;

namespace Corfu.Orleans.Hosting;

/// <summary>Registers the services that the providers of a silo or a client share: once, by the first
/// provider.</summary>
public static class CorfuOrleansServices
{
    /// <summary>Key of the client and the runtime that <c>UseCorfu(connectionString)</c> registers.</summary>
    internal const string OwnKey = "orleans";

    /// <summary>For providers in other packages: registers <see cref="CorfuOrleansRuntime"/> and
    /// <see cref="ObjectNames"/>, once.</summary>
    public static IServiceCollection AddCorfuOrleans(
        this IServiceCollection services, Action<CorfuOrleansOptions>? configure = null)
    {
        var options = services.AddOptionsWithValidateOnStart<CorfuOrleansOptions>();
        if (configure is not null) options.Configure(configure);
        if (services.Any(static added => added.ServiceType == typeof(CorfuOrleansRuntime))) return services;
        services.AddSingleton<IValidateOptions<CorfuOrleansOptions>, CorfuOrleansOptionsValidator>();
        services.TryAddSingleton(TimeProvider.System);
        services.AddSingleton<ObjectNames>();
        services.AddSingleton<CorfuOrleansRuntime>();
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(
            static provider => provider.GetRequiredService<CorfuOrleansRuntime>());
        return services;
    }

    /// <exception cref="InvalidOperationException">The providers have another log already.</exception>
    internal static IServiceCollection AddCorfuOrleans(this IServiceCollection services, string connectionString)
    {
        ArgumentException.ThrowIfNullOrEmpty(connectionString);
        if (services.FirstOrDefault(static added => added.ServiceType == typeof(OwnConnection))
            ?.ImplementationInstance is OwnConnection known)
        {
            return known.ConnectionString == connectionString
                ? services
                : throw new InvalidOperationException(
                    $"The Corfu providers of this host use the log at {known.ConnectionString}, not that at "
                    + $"{connectionString} as well: all of them share one.");
        }

        services.AddSingleton(new OwnConnection(connectionString));
        services.AddKeyedCorfuClient(OwnKey, settings =>
        {
            settings.ConnectionString = connectionString;
            // The silo waits, or the Orleans client: for as long as the providers' options say.
            settings.ConnectTimeout = TimeSpan.Zero;
        });
        services.AddKeyedTango(OwnKey, static settings => settings.ClientKey = OwnKey);
        return services.AddCorfuOrleans(static options => options.TangoKey = OwnKey);
    }

    internal static IServiceCollection AddCorfuMembership(this IServiceCollection services)
    {
        services.TryAddSingleton<CorfuMembershipTable>();
        // As Orleans' providers do it: the last one that is asked for counts.
        services.AddSingleton<IMembershipTable>(
            static provider => provider.GetRequiredService<CorfuMembershipTable>());
        return services;
    }

    private sealed record OwnConnection(string ConnectionString);
}
