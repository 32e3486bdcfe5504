using Corfu.Orleans.Hosting;
using Corfu.Orleans.Journaling;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Journaling;
using Orleans.Providers;
using Orleans.Runtime;

namespace Orleans.Hosting;

/// <summary>Durable grains on a Corfu log (preview, as Orleans' own journaling is).</summary>
public static class CorfuJournalingSiloBuilderExtensions
{
    /// <summary>Keeps the journals of durable grains in the log of the silo's other Corfu providers, or else in that
    /// of <c>AddCorfuClient</c> and <c>AddTango</c>. A write is acknowledged once it is durable; one that another
    /// activation of the grain was ahead of fails with <see cref="Storage.InconsistentStateException"/>.</summary>
    public static ISiloBuilder AddCorfuJournalStorage(
        this ISiloBuilder builder, Action<CorfuJournalOptions>? configure = null)
    {
        var services = builder.Services.AddCorfuOrleans();
        var options = services.AddOptionsWithValidateOnStart<CorfuJournalOptions>();
        if (configure is not null) options.Configure(configure);
        if (services.Any(static added => added.ServiceType == typeof(CorfuJournalStorageProvider))) return builder;
        services.AddSingleton<IValidateOptions<CorfuJournalOptions>, CorfuJournalOptionsValidator>();
        services.AddSingleton<CorfuJournalStorageProvider>();
        builder.AddJournalStorage(
            ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME,
            static provider => provider.GetRequiredService<CorfuJournalStorageProvider>());
        // Standalone managers and grains that name no provider ask for the provider without a name.
        services.TryAddSingleton<IJournalStorageProvider>(
            static provider => provider.GetRequiredService<CorfuJournalStorageProvider>());
        return builder;
    }
}
