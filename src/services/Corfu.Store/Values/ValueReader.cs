using Corfu.Store.Index;
using Corfu.Store.State;

namespace Corfu.Store.Values;

/// <summary>Reads values by their places: those of calls with one read of the log, and those of entries of values with
/// another one.</summary>
internal sealed class ValueReader(ICorfuLog log, StoreIndex index, long cacheBytes)
{
    // Most of one read of the log.
    private const int MaxPositions = 4096;

    private readonly ValueCache _cache = new(cacheBytes);

    /// <summary>In the order of the places.</summary>
    /// <exception cref="ValueTrimmedException">A value is trimmed.</exception>
    public async ValueTask<ImmutableArray<ReadOnlyMemory<byte>>> ReadAsync(
        IReadOnlyList<ValuePlace> places, CancellationToken cancellationToken)
    {
        var values = new Dictionary<ValuePlace, ReadOnlyMemory<byte>>();
        var missing = new HashSet<ValuePlace>();
        foreach (var place in places)
        {
            if (place.Length == 0) values[place] = default;
            else if (_cache.TryGet(place, out var value)) values[place] = value;
            else missing.Add(place);
        }

        StoreTelemetry.ValuesRead.Add(places.Count - missing.Count, StoreTelemetry.FromCache);
        StoreTelemetry.ValuesRead.Add(missing.Count, StoreTelemetry.FromLog);
        ImmutableArray<ValuePlace> inCalls = [.. missing.Where(static place => place.IsInCall)];
        ImmutableArray<ValuePlace> inEntries = [.. missing.Where(static place => !place.IsInCall)];
        if (!inCalls.IsEmpty) await ReadCallsAsync(inCalls, values, cancellationToken);
        foreach (var chunk in inEntries.Chunk(MaxPositions)) await ReadEntriesAsync(chunk, values, cancellationToken);
        return [.. places.Select(place => values[place])];
    }

    private async ValueTask ReadCallsAsync(ImmutableArray<ValuePlace> places,
        Dictionary<ValuePlace, ReadOnlyMemory<byte>> values, CancellationToken cancellationToken)
    {
        try
        {
            var read = await index.ReadValuesAsync(places, cancellationToken);
            for (var i = 0; i < places.Length; i++) Add(places[i], read[i], values);
        }
        // K14: a call that is gone without a trim is lost, too.
        catch (TangoException e) when (e is TangoTrimmedException or TangoPlaceException)
        {
            throw new ValueTrimmedException(e);
        }
    }

    private async ValueTask ReadEntriesAsync(ValuePlace[] places,
        Dictionary<ValuePlace, ReadOnlyMemory<byte>> values, CancellationToken cancellationToken)
    {
        ImmutableArray<LogPosition> positions =
            [.. places.Select(static place => new LogPosition(place.Position)).Distinct()];
        var pages = (await log.ReadManyAsync(positions, cancellationToken: cancellationToken))
            .ToDictionary(static page => page.Position.Offset);
        var decoded = new Dictionary<long, ImmutableArray<ReadOnlyMemory<byte>>>();
        foreach (var place in places)
        {
            var page = pages[place.Position];
            switch (page.State)
            {
                case PageState.Data:
                    if (!decoded.TryGetValue(place.Position, out var items))
                        decoded[place.Position] = items = ValueStream.Decode(page.Entry!.Payload, index.ObjectId);
                    if (place.Item >= items.Length)
                        throw new TangoFormatException($"The entry at {page.Position} has no value {place.Item}");
                    Add(place, items[place.Item], values);
                    break;
                case PageState.Corrupt:
                    throw new PageCorruptException($"Reading a value at {page.Position}");
                // K1: values are in the log before a record names them, and nothing but a trim takes them away.
                default:
                    throw new ValueTrimmedException(
                        new LogTrimmedException($"A value at {page.Position} is {page.State}", page.Position));
            }
        }
    }

    private void Add(
        ValuePlace place, ReadOnlyMemory<byte> value, Dictionary<ValuePlace, ReadOnlyMemory<byte>> values)
    {
        if (value.Length != place.Length)
            throw new TangoFormatException($"The value at {place} has {value.Length} bytes");
        // A part of an entry's bytes would keep all of them.
        var own = value.ToArray();
        values[place] = own;
        _cache.Add(place, own);
    }
}

/// <summary>A value that a state names is trimmed: a newer state does not name it, or data was lost.</summary>
internal sealed class ValueTrimmedException(Exception inner) : Exception(inner.Message, inner);
