using System.Runtime.CompilerServices;
using Corfu.Orleans.Journaling.Storage;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Journaling;
using Orleans.Runtime;

namespace Corfu.Orleans.Journaling;

/// <summary>Journals of a service's grains: streams of the log, and an object that lists them.</summary>
internal sealed class CorfuJournalStorageProvider : IJournalStorageProvider, IJournalStorageCatalog,
    ILifecycleParticipant<ISiloLifecycle>, IDisposable
{
    private readonly CorfuOrleansRuntime _runtime;
    private readonly CorfuJournalOptions _options;
    private readonly string? _formatKey;
    private readonly SharedObject<JournalCatalog> _catalog;

    public CorfuJournalStorageProvider(
        CorfuOrleansRuntime runtime, ObjectNames names, IOptions<CorfuJournalOptions> options,
        IOptions<JournaledStateManagerOptions> manager, ILoggerFactory loggers)
    {
        (_runtime, _options, _formatKey) = (runtime, options.Value, manager.Value.JournalFormatKey);
        _catalog = new SharedObject<JournalCatalog>(runtime, names.Journals);
        Trimmer = new JournalTrimmer(_options.TrimsInFlight, loggers.CreateLogger<JournalTrimmer>());
    }

    internal JournalTrimmer Trimmer { get; }

    public IJournalStorage CreateStorage(JournalId journalId)
    {
        if (journalId.IsDefault) throw new ArgumentException("The journal has no id.", nameof(journalId));
        return new CorfuJournalStorage(
            journalId, JournalStreams.Of($"{_catalog.Name}/{journalId.Value}"), ConnectAsync, _options, _formatKey,
            Trimmer);
    }

    /// <summary>All journals as of one position of the log.</summary>
    public async IAsyncEnumerable<JournalCatalogEntry> ListAsync(
        JournalCatalogListOptions? options = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        options ??= new JournalCatalogListOptions();
        var (prefix, withMetadata) = (options.Prefix.IsDefault ? "" : options.Prefix.Value, options.IncludeMetadata);
        var (min, max) = (Bound(options.MinId), Bound(options.MaxId));
        var journals = await _catalog.RunAsync("Listing the journals",
            catalog => catalog.ListAsync(prefix, min, max, cancellationToken), cancellationToken);
        foreach (var journal in journals)
        {
            cancellationToken.ThrowIfCancellationRequested();
            yield return new JournalCatalogEntry(
                new JournalId(journal.Id), withMetadata ? journal.Entry.ToMetadata() : null);
        }
    }

    /// <summary>A silo whose journals cannot be reached does not start.</summary>
    public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe(
        nameof(CorfuJournalStorageProvider), ServiceLifecycleStage.RuntimeStorageServices, ConnectAsync);

    public void Dispose() => Trimmer.Dispose();

    private async Task<JournalLog> ConnectAsync(CancellationToken cancellationToken) => new(
        (await _runtime.GetAsync(cancellationToken)).Log.Raw, await _catalog.GetAsync(cancellationToken));

    private static string? Bound(JournalId id) => id.IsDefault ? null : id.Value;
}
