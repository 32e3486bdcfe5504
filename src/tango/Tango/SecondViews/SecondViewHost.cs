using Tango.Model;
using Tango.Playback;
using Tango.Transactions;

namespace Tango.SecondViews;

/// <summary>Target of a second view's handles: linearizable reads, and nothing else.</summary>
/// <param name="holdsMutable">Whether the view's values are copied for readers.</param>
internal sealed class SecondViewHost(
    TransactionFlow flow, CallReader callReader, ISecondView view, DirectoryEntry entry, bool holdsMutable)
    : IObjectHost
{
    public string Name => entry.Name;

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
        // The view is at another position than the transaction's snapshot.
        if (flow.Current is { IsActive: true })
            throw new TangoTransactionException($"A second view, as this one of '{Name}', is not read in transactions");
        var shown = (TView)await view.ReadAsync(cancellationToken);
        return ResultCopy<TResult>.Of(read(shown, state), holdsMutable);
    }

    public ValueTask<TangoCall> ReadCallAsync(LogPlace place, CancellationToken cancellationToken) =>
        callReader.ReadAsync(place, entry, cancellationToken);

    /// <summary>Refuses the body: its reads may be of several positions.</summary>
    public ValueTask<TResult> AsOneAsync<TResult>(
        Func<ValueTask<TResult>> body, CancellationToken cancellationToken) =>
        ValueTask.FromException<TResult>(new TangoReadOnlyException(Name));
}
