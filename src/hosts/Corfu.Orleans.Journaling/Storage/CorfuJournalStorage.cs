using System.Buffers;
using System.Collections.Immutable;
using System.Globalization;
using Corfu.Protocol;
using Orleans.Journaling;
using Orleans.Storage;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>The store of journals: their streams and their catalog.</summary>
internal sealed record JournalLog(ICorfuLog Log, JournalCatalog Catalog);

/// <summary>A journal: a stream of the log, and an entry of the catalog.</summary>
/// <remarks>
/// A write is (1) an append, with the record that it builds on, and (2) a read of the stream up to it, which tells
/// whether another writer's record came between. Nothing else fences: two activations of one grain may both append, and
/// <see cref="JournalChain"/> decides for all readers which of the two records counts. Properties are the catalog's,
/// and their changes concern no writer. A write builds on the newest record that the grain has seen, not on the newest
/// that this class knows. Once another writer was first, every later write is refused until the journal is read. The
/// same after a write whose outcome is not known, for the grain's memory may differ from the journal. A caller that has
/// neither read nor written builds on what there is.
/// </remarks>
internal sealed partial class CorfuJournalStorage : IJournalStorage, IDisposable
{
    // Attempts of a caller that has seen no record, while other writers win.
    private const int ColdAttempts = 16;

    private const string AnotherWriter = "another writer was ahead; read it first.";

    private readonly string _journal;
    private readonly StreamId _stream;
    private readonly Func<CancellationToken, Task<JournalLog>> _connect;
    private readonly CorfuJournalOptions _options;
    private readonly string? _formatKey;
    private readonly JournalTrimmer _trimmer;

    // Operations run one at a time; Orleans' own manager asks for no more.
    private readonly SemaphoreSlim _gate = new(1, 1);

    // Null until the first operation, and after one that failed: what it has played may lack a record.
    private Opened? _opened;

    // Version that the grain has read or written, None where it found no journal; null while it has done neither.
    private long? _seen;
    private bool _mustRead;

    /// <param name="formatKey">Stamped on what is written.</param>
    public CorfuJournalStorage(
        JournalId journal, StreamId stream, Func<CancellationToken, Task<JournalLog>> connect,
        CorfuJournalOptions options, string? formatKey, JournalTrimmer trimmer)
    {
        (_journal, _stream) = (journal.Value, stream);
        (_connect, _options, _formatKey, _trimmer) = (connect, options, formatKey, trimmer);
    }

    public bool IsCompactionRequested => _opened?.Chain is { } chain
        && (chain.RecordsSinceRoot >= _options.CompactAfterWrites
            || chain.BytesSinceRoot >= Math.Max(_options.CompactAfterBytes, chain.RootBytes));

    public ValueTask ReadAsync(IJournalStorageConsumer consumer, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(consumer);
        return new ValueTask(InTurnAsync(
            async () =>
            {
                var opened = await OpenAsync(keepsData: true, cancellationToken);
                // The grain's states take the data in while nothing else is under way. Only then it has read.
                consumer.Read(
                    Chunks(opened?.Chain.Data ?? [], cancellationToken),
                    opened?.Entry.ToMetadata(opened.Chain.FormatKey) ?? JournalMetadata.Empty, complete: true);
                (_mustRead, _seen) = (false, opened?.Chain.Version ?? JournalRecord.None);
                opened?.Chain.ReleaseData();
                return true;
            },
            cancellationToken));
    }

    public ValueTask AppendAsync(ReadOnlySequence<byte> value, CancellationToken cancellationToken) =>
        new(WriteAsync(JournalRecordKind.Append, value.ToArray(), cancellationToken));

    public ValueTask ReplaceAsync(ReadOnlySequence<byte> value, CancellationToken cancellationToken) =>
        new(WriteAsync(JournalRecordKind.Replace, value.ToArray(), cancellationToken));

    public ValueTask DeleteAsync(CancellationToken cancellationToken) =>
        new(WriteAsync(JournalRecordKind.Delete, default, cancellationToken));

    public async ValueTask<bool> CreateIfNotExistsAsync(
        IReadOnlyDictionary<string, string>? metadata = null, CancellationToken cancellationToken = default)
    {
        var properties = JournalProperties.Of(metadata);
        return await InTurnAsync(
            async () =>
            {
                var catalog = (await _connect(cancellationToken)).Catalog;
                while (true)
                {
                    if ((await catalog.CreateAsync(_journal, properties, _formatKey, cancellationToken)).IsNew)
                        return true;
                    // A journal whose deletion was cut short is still in the catalog, until it is opened.
                    if (await OpenAsync(keepsData: false, cancellationToken) is not null) return false;
                }
            },
            cancellationToken);
    }

    public async ValueTask<IJournalMetadata?> GetMetadataAsync(CancellationToken cancellationToken = default) =>
        await InTurnAsync(
            async () => (await (await _connect(cancellationToken)).Catalog.FindAsync(_journal, cancellationToken))
                ?.ToMetadata(),
            cancellationToken);

    public async ValueTask<IJournalMetadata?> UpdateMetadataAsync(
        IReadOnlyDictionary<string, string>? set = null, IEnumerable<string>? remove = null,
        string? expectedETag = null, CancellationToken cancellationToken = default)
    {
        var properties = JournalProperties.Of(set);
        var removed = JournalProperties.Removed(remove, properties);
        return await InTurnAsync(
            async () => (await (await _connect(cancellationToken)).Catalog.ChangeAsync(
                _journal, properties, removed, expectedETag, cancellationToken))?.ToMetadata(),
            cancellationToken);
    }

    public void Dispose() => _gate.Dispose();

    private static IEnumerable<ReadOnlyMemory<byte>> Chunks(
        IEnumerable<ReadOnlyMemory<byte>> data, CancellationToken cancellationToken)
    {
        foreach (var chunk in data)
        {
            yield return chunk;
            // A consumer that cancels is told of no end.
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    private Task<bool> WriteAsync(
        JournalRecordKind kind, ReadOnlyMemory<byte> data, CancellationToken cancellationToken)
    {
        if (data.Length > _options.MaxBatchBytes)
        {
            throw new CorfuJournalException(
                $"A batch of {data.Length:N0} bytes for journal '{_journal}' exceeds MaxBatchBytes "
                + $"({_options.MaxBatchBytes:N0}).");
        }

        return InTurnAsync(
            async () =>
            {
                if (_mustRead) throw Inconsistent("the outcome of an earlier write is not known; read it first.");
                for (int left = _seen is null ? ColdAttempts : 1; left > 0; left--)
                {
                    if (await TryWriteAsync(kind, data, cancellationToken)) return true;
                }

                throw Inconsistent(AnotherWriter, _opened?.Chain.Version, _seen);
            },
            cancellationToken);
    }

    private async Task<T> InTurnAsync<T>(Func<Task<T>> operation, CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            return await operation();
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            throw CorfuOrleansException.Of($"Using journal '{_journal}'", e);
        }
        finally
        {
            _gate.Release();
        }
    }

    private InconsistentStateException Inconsistent(string reason, long? stored = null, long? expected = null) => new(
        $"Journal '{_journal}': {reason}", Text(stored), Text(expected));

    private static string? Text(long? version) => version?.ToString(CultureInfo.InvariantCulture);
}
