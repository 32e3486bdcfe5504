using Corfu;
using Tango.Feeds;

namespace Tango.SecondViews;

/// <summary>A view of one object's history that readers share.</summary>
internal interface ISecondView
{
    /// <summary>The view with everything that was acknowledged before the call. It is not changed any more.</summary>
    ValueTask<TangoObject> ReadAsync(CancellationToken cancellationToken);
}

/// <summary>
/// Changes of an object applied to a view of another type (Tango 3.1, Fig. 5b): what a program makes of a feed by
/// itself, kept once for all readers. They wait together for catch-ups, which run one after the other.
/// </summary>
/// <param name="entry">Directory's entry of the object.</param>
/// <param name="newFeed">Makes a feed of the object, which is not started.</param>
internal sealed class SecondView<TObject, TView>(
    DirectoryEntry entry, Func<ChangeFeed<TObject>> newFeed, LoopContext loops) : ISecondView
    where TObject : TangoObject, ITangoObject<TObject>
    where TView : TangoObject, ITangoObject<TView>
{
    private readonly Lock _gate = new();

    // Guarded by _gate. _next: callers may still join it, because it has not asked the log.
    private Task<TangoObject>? _next;
    private Task _last = Task.CompletedTask;

    // Used by one catch-up at a time. Null: the view starts anew.
    private ChangeFeed<TObject>? _feed;
    private TangoObject _view = null!;

    // Readers may hold it: the next change is made on a copy (R17).
    private bool _isShown;

    public async ValueTask<TangoObject> ReadAsync(CancellationToken cancellationToken)
    {
        Task<TangoObject> joined;
        lock (_gate)
        {
            if (_next is null)
            {
                var before = _last;
                _last = _next = loops.RunAsync(() => RunAfterAsync(before));
            }

            joined = _next;
        }

        try
        {
            await joined.WaitOrCancelAsync(cancellationToken);
            return await joined;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The feed ends with the runtime.
            throw RuntimeLifetime.Ended();
        }
    }

    private async Task<TangoObject> RunAfterAsync(Task before)
    {
        // Out of the lock.
        await Task.Yield();
        try
        {
            await before;
        }
        catch (Exception)
        {
            // The callers hear of the failure.
        }

        lock (_gate) _next = null;
        try
        {
            return await CatchUpAsync();
        }
        catch (TangoException e) when (e is not TangoObjectDeletedException)
        {
            _feed = null;
            throw;
        }
    }

    private async ValueTask<TangoObject> CatchUpAsync()
    {
        var feed = _feed ??= await StartAsync();
        await feed.SyncAsync();
        do
        {
            while (feed.TryTake(out var change)) await ApplyAsync(change);
        }
        while (await feed.TryPlayNextAsync());
        if (feed.Stopped is { } stopped) throw stopped.Told;
        _isShown = true;
        return _view;
    }

    private async ValueTask<ChangeFeed<TObject>> StartAsync()
    {
        var feed = newFeed();
        (_view, _isShown) = (TView.ObjectType.Create(), false);
        if (_view is ITangoViewOf<TObject>) await feed.StartFromStateAsync();
        else await feed.StartAsync(ChangePlace.Before(LogPosition.Zero));
        return feed;
    }

    private async ValueTask ApplyAsync(TangoChange<TObject> change)
    {
        if (change.Kind == TangoChangeKind.Reset)
        {
            // R22: what came before is not in the log any more.
            var view = TView.ObjectType.Create();
            if (view is not ITangoViewOf<TObject> startsFrom)
                throw new TangoTrimmedException(
                    $"{TView.ObjectType.Name} is made from all of the history of '{entry.Name}', which begins at "
                    + $"{change.Place.Position.Offset}", change.Place.Position, null);
            await startsFrom.StartFromAsync(change.State!);
            (_view, _isShown) = (view, false);
        }
        else if (change.Kind == TangoChangeKind.Update)
        {
            if (_isShown) (_view, _isShown) = (_view.CloneView(), false);
            Apply(change);
        }
    }

    private void Apply(TangoChange<TObject> change)
    {
        var at = new RecordVersion(change.At.Position, change.At.Record);
        try
        {
            ((ITangoView)_view).Apply(change.Mutator!.Number, change.Key, change.Arguments,
                new ApplyContext(null, change.At, change.Transaction ?? at, null));
        }
        catch (TangoRejectedException)
        {
            // R23: before any change. The object took the call, and the view has no use for it.
        }
        catch (Exception e) when (!TangoPlaybackFailedException.IsReason(e))
        {
            throw TangoObjectStoppedException.At(at, entry.Name, entry.Id, e);
        }
    }
}
