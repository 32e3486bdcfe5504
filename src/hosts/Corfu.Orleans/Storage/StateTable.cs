using System.Runtime.InteropServices;
using Tango;

namespace Corfu.Orleans.Storage;

/// <summary>A grain's state and the etag that its writer gave it.</summary>
[MessagePackObject]
internal sealed record StoredState([property: Key(0)] ImmutableArray<byte> Bytes, [property: Key(1)] Guid Etag);

/// <summary>The outcome of a conditional change.</summary>
/// <param name="Etag">The etag stored now; empty if no state is.</param>
[MessagePackObject]
internal readonly record struct StateChange([property: Key(0)] bool IsDone, [property: Key(1)] Guid Etag);

/// <summary>States that are kept in memory and in checkpoints.</summary>
[TangoObject("corfu.orleans.state")]
internal sealed partial class StateTable : TangoObject, IStates
{
    private ImmutableDictionary<string, StoredState> _states = ImmutableDictionary<string, StoredState>.Empty;

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
    private partial ValueTask<StateChange> PutAsync([VersionKey] string grain, ReadOnlyMemory<byte> state, Guid seen,
        Guid next, CancellationToken cancellationToken);

    [Mutator(2)]
    public partial ValueTask<StateChange> ClearAsync([VersionKey] string grain, Guid seen,
        CancellationToken cancellationToken = default);

    /// <summary>Adds to the end of a state that has that etag.</summary>
    [Mutator(3)]
    private partial ValueTask AddAsync([VersionKey] string grain, ReadOnlyMemory<byte> part, Guid etag,
        CancellationToken cancellationToken);

    [Accessor]
    public partial ValueTask<StoredState?> FindAsync([VersionKey] string grain,
        CancellationToken cancellationToken = default);

    private StateChange ApplyPut(string grain, ReadOnlyMemory<byte> state, Guid seen, Guid next)
    {
        var stored = EtagOf(grain);
        if (stored != seen) return new StateChange(false, stored);
        // The argument is a part of the record, which is not kept.
        _states = _states.SetItem(
            grain, new StoredState(ImmutableCollectionsMarshal.AsImmutableArray(state.ToArray()), next));
        return new StateChange(true, next);
    }

    private StateChange ApplyClear(string grain, Guid seen)
    {
        var stored = EtagOf(grain);
        if (stored != seen) return new StateChange(false, stored);
        _states = _states.Remove(grain);
        return new StateChange(true, Guid.Empty);
    }

    private void ApplyAdd(string grain, ReadOnlyMemory<byte> part, Guid etag)
    {
        if (!_states.TryGetValue(grain, out var stored) || stored.Etag != etag) return;
        _states = _states.SetItem(grain, stored with { Bytes = stored.Bytes.AddRange(part.Span) });
    }

    private StoredState? ReadFind(string grain) => _states.GetValueOrDefault(grain);

    private Guid EtagOf(string grain) => _states.GetValueOrDefault(grain)?.Etag ?? Guid.Empty;
}
