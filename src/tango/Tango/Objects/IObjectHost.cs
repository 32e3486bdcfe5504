using System.Collections.Immutable;
using Corfu;

namespace Tango;

/// <summary>Target of a handle's calls: the runtime side of one open object.</summary>
internal interface IObjectHost
{
    string Name { get; }

    /// <summary>Names may return, ids never do.</summary>
    ObjectId Id => throw new TangoReadOnlyException(Name);

    /// <summary>Clock of the runtime.</summary>
    TimeProvider Time => throw new TangoReadOnlyException(Name);

    /// <summary>Loops of the runtime.</summary>
    LoopContext Loops => throw new TangoReadOnlyException(Name);

    /// <summary>The calling code's calls belong to a transaction.</summary>
    bool IsInTransaction => false;

    /// <summary>See <see cref="TangoObject.OnCommit"/>.</summary>
    void OnCommit(Action action) => throw new TangoReadOnlyException(Name);

    ValueTask UpdateAsync(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken);

    ValueTask<TResult> UpdateAsync<TResult>(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken);

    /// <summary>See <see cref="TangoObject.PostHelper"/>.</summary>
    TangoPost Post(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments, IPostSink sink) =>
        throw new TangoReadOnlyException(Name);

    ValueTask<TResult> QueryAsync<TView, TState, TResult>(
        ObjectKey key, TState state, Func<TView, TState, TResult> read, CancellationToken cancellationToken)
        where TView : TangoObject;

    /// <summary>See <see cref="TangoObjectExtensions.WaitForAsync"/>.</summary>
    ValueTask<TResult> WaitForAsync<TResult>(
        Func<CancellationToken, ValueTask<TResult>> read, Func<TResult, bool> until,
        CancellationToken cancellationToken) =>
        ValueTask.FromException<TResult>(new TangoReadOnlyException(Name));

    /// <summary>See <see cref="TangoObject.WaitForViewAsync"/>.</summary>
    ValueTask<TResult> WaitForViewAsync<TView, TResult>(
        Func<TView, TResult> read, Func<TResult, bool> until, CancellationToken cancellationToken)
        where TView : TangoObject =>
        ValueTask.FromException<TResult>(new TangoReadOnlyException(Name));

    ValueTask<TangoCall> ReadCallAsync(LogPlace place, CancellationToken cancellationToken);

    /// <summary>See <see cref="TangoObject.ReadCallsAsync"/>.</summary>
    ValueTask<ImmutableArray<TangoCall>> ReadCallsAsync(
        ImmutableArray<LogPlace> places, CancellationToken cancellationToken) =>
        ValueTask.FromException<ImmutableArray<TangoCall>>(new TangoReadOnlyException(Name));

    /// <summary>The body's calls of the handle are one: they belong to the transaction that its calls belong to now,
    /// or to one of their own.</summary>
    ValueTask<TResult> AsOneAsync<TResult>(Func<ValueTask<TResult>> body, CancellationToken cancellationToken);
}
