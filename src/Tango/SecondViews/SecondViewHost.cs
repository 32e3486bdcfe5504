using Tango.Playback;
using Tango.Runtime;

namespace Tango.SecondViews;

/// <summary>What a handle of a second view forwards to: linearizable reads, and nothing else.</summary>
internal sealed class SecondViewHost(TangoRuntime runtime, SecondView view, HostedObject hosted) : IObjectHost
{
    public string Name => hosted.Name;

    public ValueTask UpdateAsync(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken) =>
        ValueTask.FromException(new TangoReadOnlyException(Name));

    public ValueTask<TResult> UpdateAsync<TResult>(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken) =>
        ValueTask.FromException<TResult>(new TangoReadOnlyException(Name));

    public async ValueTask<TResult> QueryAsync<TView, TState, TResult>(
        ObjectKey key, TState state, Func<TView, TState, TResult> read, CancellationToken cancellationToken)
        where TView : TangoObject
    {
        // It is at another position than the transaction's snapshot.
        if (runtime.Current is { IsActive: true })
            throw new TangoTransactionException($"A second view, as this one of '{Name}', is not read in transactions");
        await view.Player.SyncAsync(cancellationToken);
        await view.RebuildIfStoppedAsync(hosted.Unit, cancellationToken);
        var published = (TView)view.Player.Published.Of(hosted).Require(hosted);
        return ResultCopy<TResult>.Of(read(published, state), hosted);
    }

    public ValueTask<TangoCall> ReadCallAsync(LogPlace place, CancellationToken cancellationToken) =>
        runtime.CallReader.ReadAsync(place, hosted.Entry, cancellationToken);

    /// <summary>Its reads may be of several positions.</summary>
    public ValueTask<TResult> AsOneAsync<TResult>(
        Func<ValueTask<TResult>> body, CancellationToken cancellationToken) =>
        ValueTask.FromException<TResult>(new TangoReadOnlyException(Name));
}
