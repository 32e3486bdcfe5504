namespace Tango;

/// <summary>What a handle forwards to: the runtime side of one open object.</summary>
internal interface IObjectHost
{
    string Name { get; }

    ValueTask UpdateAsync(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken);

    ValueTask<TResult> UpdateAsync<TResult>(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken);

    ValueTask<TResult> QueryAsync<TView, TState, TResult>(
        ObjectKey key, TState state, Func<TView, TState, TResult> read, CancellationToken cancellationToken)
        where TView : TangoObject;

    ValueTask<TangoCall> ReadCallAsync(LogPlace place, CancellationToken cancellationToken);
}
