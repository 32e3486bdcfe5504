namespace Corfu.Orleans.Storage;

/// <summary>States of grains, each changed only by a caller that has seen its newest etag. Writers choose the etags, so
/// that one whose outcome was in doubt finds its own again. An empty etag stands for no state.</summary>
internal interface IStates
{
    ValueTask<StateChange> WriteAsync(string grain, ReadOnlyMemory<byte> state, Guid seen, Guid next,
        CancellationToken cancellationToken = default);

    ValueTask<StateChange> ClearAsync(string grain, Guid seen, CancellationToken cancellationToken = default);

    /// <summary>Linearizable. Null: there is none.</summary>
    ValueTask<StoredState?> FindAsync(string grain, CancellationToken cancellationToken = default);
}
