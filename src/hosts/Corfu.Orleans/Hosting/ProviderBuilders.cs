using Corfu.Orleans.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Hosting;
using Orleans.Providers;
using Orleans.Storage;

[assembly: ApplicationPart("Corfu.Orleans")]
[assembly: RegisterProvider("Corfu", "Clustering", "Silo", typeof(CorfuClusteringBuilder))]
[assembly: RegisterProvider("Corfu", "Clustering", "Client", typeof(CorfuClusteringBuilder))]
[assembly: RegisterProvider("Corfu", "GrainStorage", "Silo", typeof(CorfuGrainStorageBuilder))]
[assembly: RegisterProvider("Corfu", "Reminders", "Silo", typeof(CorfuRemindersBuilder))]
[assembly: RegisterProvider("Corfu", "GrainDirectory", "Silo", typeof(CorfuGrainDirectoryBuilder))]

namespace Corfu.Orleans.Hosting;

/// <summary>The log that a section of the configuration names: <c>ConnectionString</c>, <c>ConnectionName</c> among the
/// connection strings, or <c>ServiceKey</c> of the host's <c>AddKeyedTango</c>. Without them it is the host's default
/// or what another section names.</summary>
internal static class ConfiguredLog
{
    public static void AddCorfuOrleans(
        this IServiceCollection services, IConfiguration root, IConfigurationSection section)
    {
        if (section["ServiceKey"] is { Length: > 0 } key)
            services.AddCorfuOrleans(options => options.TangoKey = key);
        else if (section["ConnectionString"] is { Length: > 0 } connection)
            services.AddCorfuOrleans(connection);
        else if (section["ConnectionName"] is { Length: > 0 } name)
            services.AddCorfuOrleans(root.GetConnectionString(name) ?? throw new InvalidOperationException(
                $"{section.Path}: there is no connection string '{name}'."));
    }
}

internal sealed class CorfuClusteringBuilder : IProviderBuilder<ISiloBuilder>, IProviderBuilder<IClientBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection)
    {
        builder.Services.AddCorfuOrleans(builder.Configuration, configurationSection);
        builder.UseCorfuClustering();
    }

    public void Configure(IClientBuilder builder, string? name, IConfigurationSection configurationSection)
    {
        builder.Services.AddCorfuOrleans(builder.Configuration, configurationSection);
        builder.UseCorfuClustering();
    }
}

internal sealed class CorfuGrainStorageBuilder : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection)
    {
        builder.Services.AddCorfuOrleans(builder.Configuration, configurationSection);
        name ??= ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME;
        builder.AddCorfuGrainStorage(name, options =>
        {
            options.MaxStateBytes = configurationSection.GetValue(nameof(options.MaxStateBytes), options.MaxStateBytes);
            options.KeepStatesInLog =
                configurationSection.GetValue(nameof(options.KeepStatesInLog), options.KeepStatesInLog);
            options.MaxLogSpan = configurationSection.GetValue(nameof(options.MaxLogSpan), options.MaxLogSpan);
            options.CompactionPeriod =
                configurationSection.GetValue(nameof(options.CompactionPeriod), options.CompactionPeriod);
        });
        if (configurationSection["SerializerKey"] is not { Length: > 0 } key) return;
        builder.Services.AddOptions<CorfuGrainStorageOptions>(name).Configure<IServiceProvider>(
            (options, services) =>
                options.GrainStorageSerializer = services.GetRequiredKeyedService<IGrainStorageSerializer>(key));
    }
}

internal sealed class CorfuRemindersBuilder : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection)
    {
        builder.Services.AddCorfuOrleans(builder.Configuration, configurationSection);
        builder.UseCorfuReminders();
    }
}

internal sealed class CorfuGrainDirectoryBuilder : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection)
    {
        builder.Services.AddCorfuOrleans(builder.Configuration, configurationSection);
        if (name is null) builder.UseCorfuGrainDirectory();
        else builder.AddCorfuGrainDirectory(name);
    }
}
