using Corfu;
using Tango.Feeds;
using Tango.Playback;
using Tango.Runtime;
using Tango.Transactions;

namespace Tango.SecondViews;

/// <summary>The second views of one runtime, each kept once for all readers.</summary>
internal sealed class SecondViewOpener(
    DirectoryAccess access, FeedOpener feeds, TransactionFlow flow, CallReader callReader, LoopContext loops,
    RuntimeLifetime lifetime)
{
    // The readers of a second view have no place to tell.
    private static readonly FeedOptions s_everyChange = new() { ProgressEvery = long.MaxValue };

    private readonly Lock _gate = new();

    // Guarded by _gate: the views that were opened, by type and object.
    private readonly Dictionary<(string Type, ObjectId Object), ISecondView> _views = [];

    /// <inheritdoc cref="TangoRuntime.OpenViewAsync{TObject, TView}"/>
    public async ValueTask<TView> OpenAsync<TObject, TView>(string name, CancellationToken cancellationToken)
        where TObject : TangoObject, ITangoObject<TObject>
        where TView : TangoObject, ITangoObject<TView>
    {
        ObjectNames.Require(name);
        flow.RequireNone();
        TObject.ObjectType.VerifyFormatters();
        TView.ObjectType.VerifyFormatters();
        RequireMutators(TObject.ObjectType, TView.ObjectType);
        // The claims are those of the object's own state.
        if (TView.ObjectType.IsIndex && !TObject.ObjectType.IsIndex)
            throw new TangoDirectoryException(
                $"{TView.ObjectType.Name} keeps values in the log, and {TObject.ObjectType.Name} claims none there");
        var directory = await access.OpenAsync(cancellationToken);
        var entry = await DirectoryAccess.RequireAsync(directory, name, TObject.ObjectType, cancellationToken);
        var members = await DirectoryAccess.FindCohortAsync(directory, entry, cancellationToken);
        ISecondView? view;
        lock (_gate)
        {
            if (!_views.TryGetValue((TView.ObjectType.Name, entry.Id), out view))
                _views[(TView.ObjectType.Name, entry.Id)] = view = new SecondView<TObject, TView>(
                    entry, () => feeds.Create<TObject>(entry, members, null, s_everyChange, lifetime.Token),
                    loops);
        }

        // A view that cannot be made is refused here.
        await view.ReadAsync(cancellationToken);
        var handle = TView.ObjectType.Create();
        handle.Attach(new SecondViewHost(flow, callReader, view, entry, TView.ObjectType.HoldsMutableValues));
        return (TView)handle;
    }

    private static void RequireMutators(TangoObjectType type, TangoObjectType view)
    {
        var lacking = type.Mutators.Where(one => view.Mutators.All(other => other.Number != one.Number))
            .Select(static one => $"{one.Number} ({one.Name})").ToList();
        if (lacking.Count > 0)
            throw new TangoDirectoryException(
                $"{view.Name} is no view of {type.Name}: it lacks mutators {string.Join(", ", lacking)}");
    }
}
