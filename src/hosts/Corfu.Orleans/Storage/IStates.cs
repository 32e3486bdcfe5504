namespace Corfu.Orleans.Storage;

/// <summary>States of grains, each changed only by a caller that has seen its newest etag. Writers choose the etags, so
/// that one whose outcome was in doubt finds its own again. An empty etag stands for no state.</summary>
internal interface IStates
{
    /// <summary>Bytes of one call. A state that is larger is written by several, in one transaction: a call has to fit
    /// into an entry of the log, which holds a MiB.</summary>
    const int PartBytes = 512 * 1024;

    ValueTask<StateChange> WriteAsync(string grain, ReadOnlyMemory<byte> state, Guid seen, Guid next,
        CancellationToken cancellationToken = default);

    ValueTask<StateChange> ClearAsync(string grain, Guid seen, CancellationToken cancellationToken = default);

    /// <summary>Linearizable. Null: there is none.</summary>
    ValueTask<StoredState?> FindAsync(string grain, CancellationToken cancellationToken = default);

    /// <summary>The parts of a state behind its first.</summary>
    static IEnumerable<ReadOnlyMemory<byte>> More(ReadOnlyMemory<byte> state)
    {
        for (var at = PartBytes; at < state.Length; at += PartBytes)
            yield return state[at..Math.Min(at + PartBytes, state.Length)];
    }
}
