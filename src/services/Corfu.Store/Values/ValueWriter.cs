using Corfu.Store.Records;
using Corfu.Store.State;

namespace Corfu.Store.Values;

/// <summary>Puts the values of a record where they are to stand: small ones in the record itself, others in entries of
/// their own, several to an entry.</summary>
internal sealed class ValueWriter(ICorfuLog log, ObjectId store, int inlineBytes)
{
    private const int MostEntryBytes = 64 << 10;

    // More would fill the connection's queue, which all records of the process share.
    private const int AppendsAtOnce = 16;

    private const int Attempts = 16;

    private readonly StreamId _stream = ValueStream.Of(store);

    /// <summary>Bytes of values in one record, and in one entry; a larger value goes alone. The rest of the log's
    /// entries is for what stands beside the values.</summary>
    public int EntryBytes { get; } = Math.Min(MostEntryBytes, log.MaxPayload / 2);

    /// <summary>Whether a record has room for all values, and for bytes beside them.</summary>
    public bool FitInline(ImmutableArray<ReadOnlyMemory<byte>> values, long beside) =>
        beside + values.Sum(static value => (long)value.Length) < log.MaxPayload / 2;

    /// <summary>Completes when all values that do not go in the record are in the log (K1): else the writer dies
    /// between, and the record names a hole.</summary>
    /// <param name="inline">All go in the record.</param>
    public async ValueTask<ImmutableArray<StoredValue>> PlaceAsync(
        ImmutableArray<ReadOnlyMemory<byte>> values, bool inline, CancellationToken cancellationToken)
    {
        var placed = values.Select(static value => new StoredValue(value, null)).ToArray();
        if (inline) return [.. placed];
        var batches = new List<List<int>>();
        var (bytes, inRecord) = (0, 0);
        for (var i = 0; i < values.Length; i++)
        {
            var size = values[i].Length;
            // A record goes to every process: many small values go to it no more than a large one.
            if (size <= inlineBytes && inRecord + size <= EntryBytes)
            {
                inRecord += size;
                continue;
            }

            if (batches.Count == 0 || bytes + size > EntryBytes)
            {
                batches.Add([]);
                bytes = 0;
            }

            batches[^1].Add(i);
            bytes += size;
        }

        foreach (var window in batches.Chunk(AppendsAtOnce))
        {
            // After a failure, wait for the others: none goes on behind the caller.
            await Task.WhenAll(window.Select(async batch =>
            {
                var position = await AppendAsync(batch, values, cancellationToken);
                for (var i = 0; i < batch.Count; i++)
                {
                    placed[batch[i]] = new StoredValue(default, new ValuePlace(
                        position.Offset, ValuePlace.NoRecord, i, values[batch[i]].Length));
                }
            }));
        }

        return [.. placed];
    }

    // An entry in doubt is written again: no record names it, and a value that nothing names does no harm.
    private async Task<LogPosition> AppendAsync(
        List<int> batch, ImmutableArray<ReadOnlyMemory<byte>> values, CancellationToken cancellationToken)
    {
        var payload = ValueStream.Encode(store, batch.ConvertAll(item => values[item]));
        if (payload.Length > log.MaxPayload)
            throw new StoreTooLargeException(
                $"A value of {values[batch[0]].Length} bytes does not fit into an entry of {log.MaxPayload}.");
        for (var attempt = 1; ; attempt++)
        {
            var result = await log.AppendToObjectsAsync(payload, [_stream], cancellationToken);
            if (result.IsAppended || Planted.Is("value-after-its-record")) return result.Position;
            if (attempt == Attempts)
                throw new LogUnavailableException($"The log did not take a value {Attempts} times.");
        }
    }
}
