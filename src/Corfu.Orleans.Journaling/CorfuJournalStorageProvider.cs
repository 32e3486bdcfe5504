using Corfu.Client;
using Corfu.Extensions;
using Corfu.Orleans.Journaling.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Journaling;
using Orleans.Runtime;

namespace Corfu.Orleans.Journaling;

/// <summary>Journals of a silo's grains: streams of one log.</summary>
internal sealed class CorfuJournalStorageProvider : IJournalStorageProvider, ILifecycleParticipant<ISiloLifecycle>,
    IDisposable
{
    /// <summary>Of the client that <c>UseCorfu(connectionString)</c> registers.</summary>
    private const string SiloClient = "orleans";

    private readonly CorfuJournalOptions _options;
    private readonly string _prefix;
    private readonly string? _formatKey;
    private readonly ICorfuConnection _connection;
    private readonly JournalTrimmer _trimmer;

    public CorfuJournalStorageProvider(
        IServiceProvider services, IOptions<CorfuJournalOptions> options, IOptions<ClusterOptions> cluster,
        IOptions<JournaledStateManagerOptions> manager, ILoggerFactory loggers)
    {
        _options = options.Value;
        _prefix = $"{Uri.EscapeDataString(_options.StreamPrefix)}/{Uri.EscapeDataString(cluster.Value.ServiceId)}/";
        _formatKey = manager.Value.JournalFormatKey;
        _connection = Connection(services, _options.ClientKey);
        _trimmer = new JournalTrimmer(_options.TrimsInFlight, loggers.CreateLogger<JournalTrimmer>());
    }

    public IJournalStorage CreateStorage(JournalId journalId)
    {
        if (journalId.IsDefault) throw new ArgumentException("The journal has no id.", nameof(journalId));
        return new CorfuJournalStorage(
            journalId, _prefix + journalId.Value, ConnectAsync, _options, _formatKey, _trimmer);
    }

    /// <summary>A silo whose journals cannot be reached does not start.</summary>
    public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe(
        nameof(CorfuJournalStorageProvider), ServiceLifecycleStage.RuntimeStorageServices, ConnectAsync);

    public void Dispose() => _trimmer.Dispose();

    private async Task<ICorfuLog> ConnectAsync(CancellationToken cancellationToken) =>
        await _connection.GetClientAsync(cancellationToken);

    private static ICorfuConnection Connection(IServiceProvider services, string? key) => key is null
        ? services.GetKeyedService<ICorfuConnection>(SiloClient)
            ?? services.GetService<ICorfuConnection>()
            ?? throw new CorfuJournalException(
                "The journals have no log: call UseCorfu(connectionString) or UseCorfuClustering(connectionString) "
                + "on the silo, or AddCorfuClient on the host's services.")
        : services.GetKeyedService<ICorfuConnection>(key)
            ?? throw new CorfuJournalException(
                $"The journals have no log: the host has no Corfu client with the key '{key}'.");
}
