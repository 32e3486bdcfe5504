using System.Collections.Immutable;
using Corfu;

namespace Tango.Collections;

/// <summary>
/// A replicated map whose values stay in the log: memory and checkpoints hold its keys and where their values stand
/// (Tango 3.1: an index over log-structured storage). For values that are large or seldom read. A value is read with
/// one read of the log.
/// </summary>
/// <remarks>
/// The log is kept from the oldest value that the map holds. <see cref="CompactAsync"/> writes old values again, so
/// that it can be trimmed further. Operations on one key conflict, in transactions, only with operations on the same
/// key and with those on the whole map.
/// </remarks>
/// <typeparam name="TKey">As of <see cref="TangoDictionary{TKey, TValue}"/>.</typeparam>
/// <typeparam name="TValue">Each read makes a new instance.</typeparam>
[TangoObject("tango.log-dictionary")]
public sealed partial class TangoLogDictionary<TKey, TValue> : TangoObject, ITangoIndex
    where TKey : notnull
{
    // Number of values that are written again at once.
    private const int Window = 16;

    // Every place is one of a SetAsync, TryAddAsync or MoveAsync, whose first argument is the value.
    private ImmutableDictionary<TKey, LogPlace> _places = ImmutableDictionary<TKey, LogPlace>.Empty;

    LogPlace? ITangoIndex.LowestPlace
    {
        get
        {
            LogPlace? lowest = null;
            foreach (LogPlace place in _places.Values)
            {
                if (lowest is null || place < lowest) lowest = place;
            }

            return lowest;
        }
    }

    /// <summary>Adds or replaces, without reading. Durable in the log when it completes.</summary>
    [Mutator(1)]
    public partial ValueTask SetAsync([VersionKey] TKey key, [LogOnly] TValue value,
        CancellationToken cancellationToken = default);

    /// <summary>False if the key is there already; nothing is changed then.</summary>
    [Mutator(2)]
    public partial ValueTask<bool> TryAddAsync([VersionKey] TKey key, [LogOnly] TValue value,
        CancellationToken cancellationToken = default);

    /// <summary>True if the key was there.</summary>
    [Mutator(3)]
    public partial ValueTask<bool> RemoveAsync([VersionKey] TKey key, CancellationToken cancellationToken = default);

    /// <summary>Removes all keys; conflicts with every other operation.</summary>
    [Mutator(4)]
    public partial ValueTask ClearAsync(CancellationToken cancellationToken = default);

    // The value is the one at that place, and stays the key's only if nothing was written since.
    [Mutator(5)]
    private partial ValueTask<bool> MoveAsync([VersionKey] TKey key, [LogOnly] TValue value, LogPlace from,
        CancellationToken cancellationToken);

    /// <summary>Linearizable. Reads the log once, and again if the value is replaced and trimmed meanwhile.</summary>
    /// <exception cref="TangoTrimmedException">In a transaction or a past state: the value was replaced since, and is
    /// trimmed.</exception>
    public async ValueTask<Lookup<TValue>> TryGetAsync(TKey key, CancellationToken cancellationToken = default)
    {
        LogPlace? failed = null;
        while (await FindAsync(key, cancellationToken) is { Found: true, Value: var place })
        {
            try
            {
                TangoCall call = await ReadCallAsync(place, cancellationToken);
                return Lookup.Of(call.ReadArgument<TValue>());
            }
            catch (TangoTrimmedException) when (failed != place)
            {
                failed = place;
            }
        }

        return Lookup<TValue>.None;
    }

    /// <summary>Linearizable; needs no read of the log's entries.</summary>
    [Accessor]
    public partial ValueTask<bool> ContainsKeyAsync([VersionKey] TKey key,
        CancellationToken cancellationToken = default);

    /// <summary>Linearizable; in a transaction it conflicts with every write to the map.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>All keys at one position. Their order differs between processes. In a transaction it conflicts with
    /// every write to the map.</summary>
    public async ValueTask<IReadOnlyCollection<TKey>> KeysAsync(CancellationToken cancellationToken = default) =>
        await ListKeysAsync(cancellationToken);

    /// <summary>
    /// Writes values again that stand below a position of the log, for example below
    /// <see cref="RuntimeLog.PlayedTo"/> less what the disks may hold. After the map's next two checkpoints the log
    /// is not kept for them any more. A value that is replaced or removed meanwhile is left alone.
    /// </summary>
    /// <remarks>A call that fails or is cancelled may be repeated. Not for transactions.</remarks>
    /// <returns>How many were written.</returns>
    public async ValueTask<int> CompactAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        var moved = 0;
        var moving = new Queue<Task<bool>>();
        ImmutableDictionary<TKey, LogPlace> places = await PlacesAsync(cancellationToken);
        try
        {
            // Oldest first: one that is stopped has helped.
            foreach ((TKey key, LogPlace place) in places.Where(known => known.Value.Position < below)
                .OrderBy(static known => known.Value))
            {
                if (moving.Count == Window && await moving.Dequeue()) moved++;
                moving.Enqueue(MoveAsync(key, place, cancellationToken));
            }

            while (moving.TryDequeue(out Task<bool>? last))
            {
                if (await last) moved++;
            }

            return moved;
        }
        finally
        {
            // After a failure, wait for the remaining moves: none goes on behind the caller.
            foreach (Task left in moving)
            {
                await left.ConfigureAwait(
                    ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            }
        }
    }

    private async Task<bool> MoveAsync(TKey key, LogPlace from, CancellationToken cancellationToken)
    {
        TangoCall call;
        try
        {
            call = await ReadCallAsync(from, cancellationToken);
        }
        catch (TangoTrimmedException)
        {
            // The value was replaced or removed meanwhile: else the map would hold it.
            if (await FindAsync(key, cancellationToken) is { Found: true, Value: var now } && now == from) throw;
            return false;
        }

        return await MoveAsync(key, call.ReadArgument<TValue>(), from, cancellationToken);
    }

    [Accessor]
    private partial ValueTask<Lookup<LogPlace>> FindAsync([VersionKey] TKey key, CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<ImmutableDictionary<TKey, LogPlace>> PlacesAsync(CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<ImmutableArray<TKey>> ListKeysAsync(CancellationToken cancellationToken);

    private void ApplySet(TKey key, LogPlace place) => _places = _places.SetItem(key, place);

    private bool ApplyTryAdd(TKey key, LogPlace place)
    {
        if (_places.ContainsKey(key)) return false;
        _places = _places.Add(key, place);
        return true;
    }

    private bool ApplyRemove(TKey key)
    {
        ImmutableDictionary<TKey, LogPlace> before = _places;
        _places = before.Remove(key);
        return !ReferenceEquals(before, _places);
    }

    private void ApplyClear() => _places = _places.Clear();

    private bool ApplyMove(TKey key, LogPlace from, LogPlace place)
    {
        if (!_places.TryGetValue(key, out LogPlace current) || current != from) return false;
        _places = _places.SetItem(key, place);
        return true;
    }

    private Lookup<LogPlace> ReadFind(TKey key) =>
        _places.TryGetValue(key, out LogPlace place) ? Lookup.Of(place) : Lookup<LogPlace>.None;

    private bool ReadContainsKey(TKey key) => _places.ContainsKey(key);

    private int ReadCount() => _places.Count;

    private ImmutableDictionary<TKey, LogPlace> ReadPlaces() => _places;

    private ImmutableArray<TKey> ReadListKeys() => [.. _places.Keys];
}
