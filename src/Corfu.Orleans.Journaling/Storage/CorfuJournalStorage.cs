using System.Buffers;
using System.Collections.Immutable;
using System.Globalization;
using Corfu.Client;
using Corfu.Protocol;
using Orleans.Journaling;
using Orleans.Storage;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>One journal: a stream of the log.</summary>
/// <remarks>
/// A write is (1) an append, with the record that it builds on, and (2) a read of the stream up to it, which tells
/// whether another writer's record came between. Nothing else fences: two activations of one grain may both append, and
/// <see cref="JournalChain"/> decides for all readers which of the two records counts.
/// A write builds on the newest record that the grain has seen, not on the newest that this class knows of: once
/// another writer was first, every later write is refused until the journal is read. The same after a write whose
/// outcome is not known, for the grain's memory may differ from the journal.
/// </remarks>
internal sealed partial class CorfuJournalStorage : IJournalStorage, IDisposable
{
    // Of a change of properties that other writers are ahead of.
    private const int PropertyAttempts = 16;

    private const string AnotherWriter = "another writer was ahead; read it first.";

    private readonly string _journal;
    private readonly StreamId _stream;
    private readonly Func<CancellationToken, Task<ICorfuLog>> _connect;
    private readonly CorfuJournalOptions _options;
    private readonly string? _formatKey;
    private readonly JournalTrimmer _trimmer;

    // One operation at a time; Orleans' own manager asks for no more.
    private readonly SemaphoreSlim _gate = new(1, 1);

    // Null until the first operation, and after one whose outcome is not known.
    private Opened? _opened;

    // Version that the grain has read or written; null while it has done neither.
    private long? _seen;
    private bool _mustRead;

    /// <param name="formatKey">Stamped on what is written.</param>
    public CorfuJournalStorage(
        JournalId journal, string streamName, Func<CancellationToken, Task<ICorfuLog>> connect,
        CorfuJournalOptions options, string? formatKey, JournalTrimmer trimmer)
    {
        _journal = journal.Value;
        _stream = StreamId.FromName(streamName);
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
                Opened opened = await OpenAsync(keepsData: true, cancellationToken);
                // The grain's states take the data in while nothing else is under way. Only then it has read.
                consumer.Read(opened.Chain.Data, opened.Chain.Metadata ?? JournalMetadata.Empty, complete: true);
                (_mustRead, _seen) = (false, opened.Chain.Version);
                opened.Chain.ReleaseData();
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
                for (int left = PropertyAttempts; left > 0; left--)
                {
                    Opened opened = await FreshAsync(cancellationToken);
                    if (opened.Chain.Exists) return false;
                    if (await TryWriteAsync(
                        opened, JournalRecordKind.Properties, default, properties, opened.Chain.Version,
                        cancellationToken)) return true;
                }

                throw Contended();
            },
            cancellationToken);
    }

    public async ValueTask<IJournalMetadata?> GetMetadataAsync(CancellationToken cancellationToken = default) =>
        await InTurnAsync(async () => (await FreshAsync(cancellationToken)).Chain.Metadata, cancellationToken);

    public async ValueTask<IJournalMetadata?> UpdateMetadataAsync(
        IReadOnlyDictionary<string, string>? set = null, IEnumerable<string>? remove = null,
        string? expectedETag = null, CancellationToken cancellationToken = default)
    {
        var change = new JournalProperties.Change(set, remove);
        return await InTurnAsync(
            async () =>
            {
                for (int left = PropertyAttempts; left > 0; left--)
                {
                    Opened opened = await FreshAsync(cancellationToken);
                    if (opened.Chain.Metadata is not { } current) return null;
                    if (expectedETag is not null && current.ETag != expectedETag) return null;
                    var changed = change.On(opened.Chain.Properties);
                    if (changed.SequenceEqual(opened.Chain.Properties)) return current;
                    if (await TryWriteAsync(
                        opened, JournalRecordKind.Properties, default, changed, opened.Chain.Version,
                        cancellationToken)) return _opened?.Chain.Metadata;
                }

                throw Contended();
            },
            cancellationToken);
    }

    public void Dispose() => _gate.Dispose();

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
                Opened opened = _opened ?? await OpenAsync(keepsData: false, cancellationToken);
                long version = opened.Chain.Version;
                long seen = _seen ?? version;
                if (seen != version) throw Inconsistent(AnotherWriter, version, seen);
                var properties = kind switch
                {
                    // What stands before it is trimmed, its properties with it.
                    JournalRecordKind.Replace => opened.Chain.Properties,
                    JournalRecordKind.Delete => JournalProperties.None,
                    _ => null,
                };
                _seen = seen;
                if (!await TryWriteAsync(opened, kind, data, properties, seen, cancellationToken))
                    throw Inconsistent(AnotherWriter, _opened?.Chain.Version, seen);
                return true;
            },
            cancellationToken);
    }

    /// <summary>Off the grain's scheduler, on which a client of the log would hold up the grain's other work.</summary>
    private async Task<T> InTurnAsync<T>(Func<Task<T>> operation, CancellationToken cancellationToken)
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        await _gate.WaitAsync(cancellationToken);
        try
        {
            return await operation();
        }
        catch (Exception e) when (e is CorfuException and not AppendUnknownException)
        {
            throw new CorfuOrleansException($"Journal '{_journal}': {e.Message}", e);
        }
        finally
        {
            _gate.Release();
        }
    }

    private InconsistentStateException Inconsistent(string reason, long? stored = null, long? expected = null) => new(
        $"Journal '{_journal}': {reason}", Text(stored), Text(expected));

    private CorfuJournalException Contended() => new(
        $"Journal '{_journal}': other writers were ahead {PropertyAttempts} times.");

    private static string? Text(long? version) => version?.ToString(CultureInfo.InvariantCulture);
}
