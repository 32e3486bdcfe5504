using Tango.Model;
using Tango.Playback;

namespace Tango.History;

/// <summary>Host of a past state's handles: it reads one view that never changes, and refuses updates.</summary>
internal sealed class PastHost(HostedObject hosted, CallReader calls) : IObjectHost
{
    private readonly FrozenView _view = hosted.Publish();

    public string Name => hosted.Name;

    public ValueTask UpdateAsync(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken) =>
        ValueTask.FromException(new TangoReadOnlyException(Name));

    public ValueTask<TResult> UpdateAsync<TResult>(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken) =>
        ValueTask.FromException<TResult>(new TangoReadOnlyException(Name));

    public ValueTask<TResult> QueryAsync<TView, TState, TResult>(
        ObjectKey key, TState state, Func<TView, TState, TResult> read, CancellationToken cancellationToken)
        where TView : TangoObject
    {
        try
        {
            return new ValueTask<TResult>(ResultCopy<TResult>.Of(read((TView)_view.Require(hosted), state), hosted));
        }
        catch (Exception e)
        {
            return ValueTask.FromException<TResult>(e);
        }
    }

    /// <summary>Unlike the state, it may be trimmed since.</summary>
    public ValueTask<TangoCall> ReadCallAsync(LogPlace place, CancellationToken cancellationToken) =>
        calls.ReadAsync(place, hosted.Entry, cancellationToken);

    /// <summary>The state never changes.</summary>
    public ValueTask<TResult> AsOneAsync<TResult>(
        Func<ValueTask<TResult>> body, CancellationToken cancellationToken) => body();
}
