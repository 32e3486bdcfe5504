using System.Runtime.InteropServices;
using Tango;

namespace Corfu.Orleans.Storage;

/// <summary>The place of a grain's state in the log.</summary>
/// <param name="Place">The place of its first part, which is the whole state as a rule.</param>
/// <param name="More">The places of the other parts, in order; null: there are none.</param>
[MessagePackObject]
internal readonly record struct IndexedState(
    [property: Key(0)] LogPlace Place, [property: Key(1)] Guid Etag, [property: Key(2)] ImmutableArray<LogPlace>? More)
{
    /// <summary>Parts are written several at once, and stand in any order.</summary>
    public LogPlace FindLowest()
    {
        var lowest = Place;
        foreach (var place in More ?? [])
        {
            if (place < lowest) lowest = place;
        }

        return lowest;
    }
}

/// <summary>A state that stands below a position.</summary>
[MessagePackObject]
internal readonly record struct OldState([property: Key(0)] string Grain, [property: Key(1)] IndexedState State);

/// <summary>The result of a compaction.</summary>
/// <param name="Moved">States that were written again.</param>
/// <param name="Failed">States that could not be read or written, and stay.</param>
/// <param name="Failure">The failure of one of them.</param>
internal readonly record struct Compaction(int Moved, int Failed, Exception? Failure);

/// <summary>States that stay in the log: memory and checkpoints hold keys, etags and places. A state is read with one
/// read of the log.</summary>
/// <remarks>Invariant: every place is one of a <see cref="PutAsync"/>, <see cref="AddAsync"/> or <see
/// cref="MoveAsync(string, ReadOnlyMemory{byte}, LogPlace, CancellationToken)"/>, whose first argument is the state or
/// a part of it.</remarks>
[TangoObject("corfu.orleans.state-index")]
internal sealed partial class StateIndex : TangoObject, ITangoIndex, IStates
{
    // Alone, a move waits for a read and for an append: a thousand a second in a log that others fill faster.
    private const int MovesInFlight = 64;

    // After so many the log is at fault and not the states.
    private const int MaxFailures = 1_000;

    private ImmutableDictionary<string, IndexedState> _states = ImmutableDictionary<string, IndexedState>.Empty;

    LogPlace? ITangoIndex.LowestPlace
    {
        get
        {
            LogPlace? lowest = null;
            foreach (var state in _states.Values)
            {
                var place = state.FindLowest();
                if (lowest is null || place < lowest) lowest = place;
            }

            return lowest;
        }
    }

    public ValueTask<StateChange> WriteAsync(
        string grain, ReadOnlyMemory<byte> state, Guid seen, Guid next, CancellationToken cancellationToken = default)
    {
        if (state.Length <= IStates.PartBytes) return PutAsync(grain, state, seen, next, cancellationToken);
        return AsOneAsync(async () =>
        {
            var change = await PutAsync(grain, state[..IStates.PartBytes], seen, next, cancellationToken);
            if (!change.IsDone) return change;
            foreach (var part in IStates.More(state)) await AddAsync(grain, part, next, cancellationToken);
            return change;
        }, cancellationToken);
    }

    [Mutator(1)]
    private partial ValueTask<StateChange> PutAsync([VersionKey] string grain, [LogOnly] ReadOnlyMemory<byte> state,
        Guid seen, Guid next, CancellationToken cancellationToken);

    [Mutator(2)]
    public partial ValueTask<StateChange> ClearAsync([VersionKey] string grain, Guid seen,
        CancellationToken cancellationToken = default);

    /// <summary>Adds to the end of a state that has that etag.</summary>
    [Mutator(3)]
    private partial ValueTask AddAsync([VersionKey] string grain, [LogOnly] ReadOnlyMemory<byte> part, Guid etag,
        CancellationToken cancellationToken);

    /// <summary>Writes the first part of a state again that stands there; its etag stays. False: it was replaced
    /// since.</summary>
    [Mutator(4)]
    private partial ValueTask<bool> MoveAsync([VersionKey] string grain, [LogOnly] ReadOnlyMemory<byte> state,
        LogPlace from, CancellationToken cancellationToken);

    /// <summary>Reads the log once, and again if the state is replaced and trimmed meanwhile.</summary>
    public async ValueTask<StoredState?> FindAsync(string grain, CancellationToken cancellationToken = default)
    {
        LogPlace? failed = null;
        while (await LocateAsync(grain, cancellationToken) is { } known)
        {
            try
            {
                return new StoredState(await ReadAsync(known, cancellationToken), known.Etag);
            }
            catch (TangoTrimmedException) when (failed != known.Place)
            {
                failed = known.Place;
            }
        }

        return null;
    }

    /// <summary>Writes the states again that stand below a position, so that the log can be trimmed of them after the
    /// object's next two checkpoints. Oldest first, so that one that is cut short has helped. A state that cannot be
    /// read keeps no other from being moved.</summary>
    /// <exception cref="CorfuOrleansException">Nothing could be read or written any more.</exception>
    public async ValueTask<Compaction> CompactAsync(LogPosition below, CancellationToken cancellationToken)
    {
        var (moved, failed) = (0, 0);
        Exception? failure = null;
        await Parallel.ForEachAsync(
            await ListBelowAsync(below.Offset, cancellationToken),
            new ParallelOptions { MaxDegreeOfParallelism = MovesInFlight, CancellationToken = cancellationToken },
            async (old, token) =>
            {
                try
                {
                    if (await MoveAsync(old.Grain, old.State, token)) Interlocked.Increment(ref moved);
                }
                catch (Exception e) when (!token.IsCancellationRequested)
                {
                    Interlocked.CompareExchange(ref failure, e, null);
                    if (Interlocked.Increment(ref failed) > MaxFailures)
                        throw new CorfuOrleansException($"Writing {MaxFailures} old states again failed.", e);
                }
            });
        return new Compaction(moved, failed, failure);
    }

    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<bool> HasBelowAsync(long offset, CancellationToken cancellationToken = default);

    private async Task<bool> MoveAsync(string grain, IndexedState known, CancellationToken cancellationToken)
    {
        ImmutableArray<byte> bytes;
        try
        {
            bytes = await ReadAsync(known, cancellationToken);
        }
        catch (TangoTrimmedException)
        {
            // The state was replaced meanwhile: otherwise the log would have it.
            if (await LocateAsync(grain, cancellationToken) is { } now && now.Place == known.Place) throw;
            return false;
        }

        var state = bytes.AsMemory();
        if (state.Length <= IStates.PartBytes) return await MoveAsync(grain, state, known.Place, cancellationToken);
        return await AsOneAsync(async () =>
        {
            var first = state[..IStates.PartBytes];
            if (!await MoveAsync(grain, first, known.Place, cancellationToken)) return false;
            foreach (var part in IStates.More(state)) await AddAsync(grain, part, known.Etag, cancellationToken);
            return true;
        }, cancellationToken);
    }

    private async Task<ImmutableArray<byte>> ReadAsync(IndexedState state, CancellationToken cancellationToken)
    {
        if (state.More is not { } more)
        {
            return ImmutableCollectionsMarshal.AsImmutableArray(
                (await ReadPartAsync(state.Place, cancellationToken)).ToArray());
        }

        LogPlace[] places = [state.Place, .. more];
        var parts = await Task.WhenAll(places.Select(place => ReadPartAsync(place, cancellationToken)));
        var bytes = new byte[parts.Sum(static part => part.Length)];
        var rest = bytes.AsMemory();
        foreach (var part in parts)
        {
            part.CopyTo(rest);
            rest = rest[part.Length..];
        }

        return ImmutableCollectionsMarshal.AsImmutableArray(bytes);
    }

    private async Task<ReadOnlyMemory<byte>> ReadPartAsync(LogPlace place, CancellationToken cancellationToken) =>
        (await ReadCallAsync(place, cancellationToken)).ReadArgument<ReadOnlyMemory<byte>>();

    [Accessor]
    private partial ValueTask<IndexedState?> LocateAsync([VersionKey] string grain,
        CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<ImmutableArray<OldState>> ListBelowAsync(long offset,
        CancellationToken cancellationToken);

    private StateChange ApplyPut(string grain, Guid seen, Guid next, LogPlace place)
    {
        var stored = EtagOf(grain);
        if (stored != seen) return new StateChange(false, stored);
        _states = _states.SetItem(grain, new IndexedState(place, next, null));
        return new StateChange(true, next);
    }

    private StateChange ApplyClear(string grain, Guid seen)
    {
        var stored = EtagOf(grain);
        if (stored != seen) return new StateChange(false, stored);
        _states = _states.Remove(grain);
        return new StateChange(true, Guid.Empty);
    }

    private void ApplyAdd(string grain, Guid etag, LogPlace place)
    {
        if (!_states.TryGetValue(grain, out var known) || known.Etag != etag) return;
        _states = _states.SetItem(grain, known with { More = (known.More ?? []).Add(place) });
    }

    private bool ApplyMove(string grain, LogPlace from, LogPlace place)
    {
        if (!_states.TryGetValue(grain, out var known) || known.Place != from) return false;
        _states = _states.SetItem(grain, new IndexedState(place, known.Etag, null));
        return true;
    }

    private int ReadCount() => _states.Count;

    private bool ReadHasBelow(long offset) => _states.Values.Any(
        state => state.FindLowest().Position.Offset < offset);

    private IndexedState? ReadLocate(string grain) => _states.TryGetValue(grain, out var known) ? known : null;

    private ImmutableArray<OldState> ReadListBelow(long offset) =>
    [
        .. _states.Where(state => state.Value.FindLowest().Position.Offset < offset)
            .OrderBy(static state => state.Value.FindLowest())
            .Select(static state => new OldState(state.Key, state.Value)),
    ];

    private Guid EtagOf(string grain) => _states.TryGetValue(grain, out var known) ? known.Etag : Guid.Empty;
}
