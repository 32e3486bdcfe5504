using System.Runtime.InteropServices;
using Tango;

namespace Corfu.Orleans.Storage;

/// <summary>Where a grain's state stands in the log.</summary>
[MessagePackObject]
internal readonly record struct IndexedState([property: Key(0)] LogPlace Place, [property: Key(1)] Guid Etag);

/// <summary>States that stay in the log: memory and checkpoints hold keys, etags and places. A state is read with one
/// read of the log.</summary>
/// <remarks>Invariant: every place is one of a <see cref="WriteAsync"/> or <see cref="MoveAsync(string,
/// ReadOnlyMemory{byte}, LogPlace, CancellationToken)"/>, whose first argument is the state.</remarks>
[TangoObject("corfu.orleans.state-index")]
internal sealed partial class StateIndex : TangoObject, ITangoIndex, IStates
{
    private ImmutableDictionary<string, IndexedState> _states = ImmutableDictionary<string, IndexedState>.Empty;

    LogPlace? ITangoIndex.LowestPlace
    {
        get
        {
            LogPlace? lowest = null;
            foreach (var state in _states.Values)
            {
                if (lowest is null || state.Place < lowest) lowest = state.Place;
            }

            return lowest;
        }
    }

    [Mutator(1)]
    public partial ValueTask<StateChange> WriteAsync([VersionKey] string grain, ReadOnlyMemory<byte> state, Guid seen,
        Guid next, CancellationToken cancellationToken = default);

    [Mutator(2)]
    public partial ValueTask<StateChange> ClearAsync([VersionKey] string grain, Guid seen,
        CancellationToken cancellationToken = default);

    /// <summary>Writes a state again that stands there; its etag stays. False: it was replaced since.</summary>
    [Mutator(3)]
    private partial ValueTask<bool> MoveAsync([VersionKey] string grain, ReadOnlyMemory<byte> state, LogPlace from,
        CancellationToken cancellationToken);

    /// <summary>Reads the log once, and again if the state is replaced and trimmed meanwhile.</summary>
    public async ValueTask<StoredState?> FindAsync(string grain, CancellationToken cancellationToken = default)
    {
        LogPlace? failed = null;
        while (await LocateAsync(grain, cancellationToken) is { } known)
        {
            try
            {
                return new StoredState(await ReadAsync(known.Place, cancellationToken), known.Etag);
            }
            catch (TangoTrimmedException) when (failed != known.Place)
            {
                failed = known.Place;
            }
        }

        return null;
    }

    /// <summary>Writes the states again that stand below a position, so that the log can be trimmed of them after the
    /// object's next two checkpoints. Oldest first, so that one that is cut short has helped.</summary>
    /// <returns>How many were written.</returns>
    public async ValueTask<int> CompactAsync(LogPosition below, CancellationToken cancellationToken)
    {
        var moved = 0;
        foreach (var grain in await ListBelowAsync(below.Offset, cancellationToken))
        {
            if (await LocateAsync(grain, cancellationToken) is { } known && known.Place.Position < below
                && await MoveAsync(grain, known, cancellationToken)) moved++;
        }

        return moved;
    }

    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    private async Task<bool> MoveAsync(string grain, IndexedState known, CancellationToken cancellationToken)
    {
        ImmutableArray<byte> bytes;
        try
        {
            bytes = await ReadAsync(known.Place, cancellationToken);
        }
        catch (TangoTrimmedException)
        {
            // It was replaced meanwhile: else the log would have it.
            if (await LocateAsync(grain, cancellationToken) is { } now && now.Place == known.Place) throw;
            return false;
        }

        return await MoveAsync(grain, bytes.AsMemory(), known.Place, cancellationToken);
    }

    private async Task<ImmutableArray<byte>> ReadAsync(LogPlace place, CancellationToken cancellationToken)
    {
        var call = await ReadCallAsync(place, cancellationToken);
        return ImmutableCollectionsMarshal.AsImmutableArray(call.ReadArgument<ReadOnlyMemory<byte>>().ToArray());
    }

    [Accessor]
    private partial ValueTask<IndexedState?> LocateAsync([VersionKey] string grain,
        CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<ImmutableArray<string>> ListBelowAsync(long offset,
        CancellationToken cancellationToken);

    private StateChange ApplyWrite(string grain, ReadOnlyMemory<byte> state, Guid seen, Guid next, LogPlace place)
    {
        var stored = EtagOf(grain);
        if (stored != seen) return new StateChange(false, stored);
        _states = _states.SetItem(grain, new IndexedState(place, next));
        return new StateChange(true, next);
    }

    private StateChange ApplyClear(string grain, Guid seen)
    {
        var stored = EtagOf(grain);
        if (stored != seen) return new StateChange(false, stored);
        _states = _states.Remove(grain);
        return new StateChange(true, Guid.Empty);
    }

    private bool ApplyMove(string grain, ReadOnlyMemory<byte> state, LogPlace from, LogPlace place)
    {
        if (!_states.TryGetValue(grain, out var known) || known.Place != from) return false;
        _states = _states.SetItem(grain, known with { Place = place });
        return true;
    }

    private int ReadCount() => _states.Count;

    private IndexedState? ReadLocate(string grain) => _states.TryGetValue(grain, out var known) ? known : null;

    private ImmutableArray<string> ReadListBelow(long offset) =>
    [
        .. _states.Where(state => state.Value.Place.Position.Offset < offset)
            .OrderBy(static state => state.Value.Place)
            .Select(static state => state.Key),
    ];

    private Guid EtagOf(string grain) => _states.TryGetValue(grain, out var known) ? known.Etag : Guid.Empty;
}
