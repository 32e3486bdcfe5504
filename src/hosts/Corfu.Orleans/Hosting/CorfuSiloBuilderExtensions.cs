using Corfu.Orleans;
using Corfu.Orleans.Directories;
using Corfu.Orleans.Hosting;
using Corfu.Orleans.Reminders;
using Corfu.Orleans.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.GrainDirectory;
using Orleans.Providers;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace Orleans.Hosting;

/// <summary>Orleans on a Corfu log: membership, grain state, reminders and the grain directory of silos.</summary>
/// <remarks>All providers of a silo share one connection and one runtime: the one that <c>UseCorfu</c> or
/// <c>UseCorfuClustering</c> makes from a connection string, or else that of <c>AddCorfuClient</c> and <c>AddTango</c>
/// in the host's services. Options are validated before the silo starts, all faults in one message.</remarks>
public static class CorfuSiloBuilderExtensions
{
    /// <summary>Says which log the providers use. Health checks <c>corfu-client-orleans</c> and
    /// <c>tango-orleans</c>, tag <c>ready</c>.</summary>
    /// <param name="connectionString"><c>corfu://host:port,...</c></param>
    /// <exception cref="InvalidOperationException">The providers have another log already.</exception>
    public static ISiloBuilder UseCorfu(this ISiloBuilder builder, string connectionString)
    {
        builder.Services.AddCorfuOrleans(connectionString);
        return builder;
    }

    /// <summary>Changes what all providers of the silo share.</summary>
    public static ISiloBuilder UseCorfu(this ISiloBuilder builder, Action<CorfuOrleansOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        builder.Services.AddCorfuOrleans(configure);
        return builder;
    }

    /// <summary>Keeps the cluster's membership in the log at that address, which the silo's other providers use
    /// too.</summary>
    /// <param name="connectionString"><c>corfu://host:port,...</c></param>
    public static ISiloBuilder UseCorfuClustering(this ISiloBuilder builder, string connectionString)
    {
        builder.Services.AddCorfuOrleans(connectionString).AddCorfuMembership();
        return builder;
    }

    /// <summary>Keeps the cluster's membership in the log. Several clusters may share one: the cluster's id tells them
    /// apart.</summary>
    public static ISiloBuilder UseCorfuClustering(
        this ISiloBuilder builder, Action<CorfuOrleansOptions>? configure = null)
    {
        builder.Services.AddCorfuOrleans(configure).AddCorfuMembership();
        return builder;
    }

    /// <summary><see cref="AddCorfuGrainStorage"/> for grains that name no storage.</summary>
    public static ISiloBuilder AddCorfuGrainStorageAsDefault(
        this ISiloBuilder builder, Action<CorfuGrainStorageOptions>? configure = null) =>
        builder.AddCorfuGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configure);

    /// <summary>Keeps grain states in the log. A write is refused unless its grain has seen the newest one; a read sees
    /// every write that was acknowledged before it.</summary>
    /// <param name="name">As in <c>[PersistentState("cart", "name")]</c>. The states belong to the service's id and
    /// this name.</param>
    public static ISiloBuilder AddCorfuGrainStorage(
        this ISiloBuilder builder, string name, Action<CorfuGrainStorageOptions>? configure = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        var services = builder.Services.AddCorfuOrleans();
        var options = services.AddOptionsWithValidateOnStart<CorfuGrainStorageOptions>(name);
        if (configure is not null) options.Configure(configure);
        services.AddSingleton<IValidateOptions<CorfuGrainStorageOptions>>(new CorfuGrainStorageOptionsValidator(name));
        services.AddTransient<IPostConfigureOptions<CorfuGrainStorageOptions>,
            DefaultStorageProviderSerializerOptionsConfigurator<CorfuGrainStorageOptions>>();
        services.ConfigureNamedOptionForLogging<CorfuGrainStorageOptions>(name);
        services.AddGrainStorage(name, static (provider, key) => ActivatorUtilities.CreateInstance<CorfuGrainStorage>(
            provider, key, provider.GetRequiredService<IOptionsMonitor<CorfuGrainStorageOptions>>().Get(key)));
        return builder;
    }

    /// <summary>Keeps reminders in the log; they belong to the service's id.</summary>
    public static ISiloBuilder UseCorfuReminders(this ISiloBuilder builder)
    {
        var services = builder.Services.AddCorfuOrleans();
        services.AddReminders();
        services.AddSingleton<IReminderTable, CorfuReminderTable>();
        return builder;
    }

    /// <summary><see cref="AddCorfuGrainDirectory"/> for grains that name no directory.</summary>
    public static ISiloBuilder UseCorfuGrainDirectory(this ISiloBuilder builder) =>
        builder.AddCorfuGrainDirectory(GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY);

    /// <summary>Keeps in the log where grains are activated: at most one activation of a grain is registered, also
    /// while silos fail.</summary>
    /// <param name="name">As in <c>[GrainDirectory("name")]</c>.</param>
    public static ISiloBuilder AddCorfuGrainDirectory(this ISiloBuilder builder, string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        builder.Services.AddCorfuOrleans();
        return builder.AddGrainDirectory(name, static (provider, key) =>
            ActivatorUtilities.CreateInstance<CorfuGrainDirectory>(provider, key));
    }
}
