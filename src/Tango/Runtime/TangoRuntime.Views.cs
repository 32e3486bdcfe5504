using Corfu.Protocol;
using Tango.History;
using Tango.Playback;
using Tango.SecondViews;

namespace Tango;

public sealed partial class TangoRuntime
{
    private readonly Lock _viewsGate = new();

    // Guarded by _viewsGate: those that were opened, by type and object.
    private readonly Dictionary<(string Type, ObjectId Object), SecondView> _views = [];

    /// <summary>
    /// Opens a second, read-only view over an object's history: a class with the same mutators that makes another state
    /// of them (Tango 3.1). Reads are linearizable. The object need not be open here; its own view stays as it is.
    /// </summary>
    /// <remarks>
    /// The view applies what was committed. A call that the object refuses the view must refuse as well. Without
    /// <see cref="ITangoViewOf{TObject}"/> the view is played from the object's first record, which is impossible once
    /// history was trimmed; with it, it starts from the object's newest checkpoint. It cannot be read in a transaction.
    /// </remarks>
    /// <typeparam name="TObject">The object's type, as it was opened under the name.</typeparam>
    /// <typeparam name="TView">Has a mutator for each number of <typeparamref name="TObject"/>, with the same
    /// parameters.</typeparam>
    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">The object is of another type, or the view lacks mutators, or it keeps
    /// values in the log (<see cref="ITangoIndex"/>) and the object does not.</exception>
    /// <exception cref="TangoTrimmedException">The history that the view needs is trimmed.</exception>
    public async ValueTask<TView> OpenViewAsync<TObject, TView>(
        string name, CancellationToken cancellationToken = default)
        where TObject : TangoObject, ITangoObject<TObject>
        where TView : TangoObject, ITangoObject<TView>
    {
        RequireName(name);
        RequireNoTransaction();
        TView.ObjectType.VerifyFormatters();
        RequireMutators(TObject.ObjectType, TView.ObjectType);
        // The claims are those of the object's own state.
        if (TView.ObjectType.IsIndex && !TObject.ObjectType.IsIndex)
            throw new TangoDirectoryException(
                $"{TView.ObjectType.Name} keeps values in the log, and {TObject.ObjectType.Name} claims none there");
        await AttachDirectoryAsync(cancellationToken);
        var entry = await FindAsync(name, TObject.ObjectType, cancellationToken);
        SecondView? view;
        lock (_viewsGate)
        {
            if (!_views.TryGetValue((TView.ObjectType.Name, entry.Id), out view))
                _views[(TView.ObjectType.Name, entry.Id)] = view = NewView<TObject, TView>(entry);
        }

        var unit = await view.OpenAsync(await FindUnitAsync(entry, cancellationToken), cancellationToken);
        // Its player may be behind the one that has the directory.
        if (unit.Find(entry.Id) is null) await view.Player.SyncAsync(cancellationToken);
        var member = unit.Find(entry.Id) ?? throw new TangoTrimmedException(
            $"The second view of '{name}' ended below the object's first record", entry.Birth, null);
        var handle = TView.ObjectType.Create();
        handle.Attach(new SecondViewHost(this, view, member));
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

    private SecondView NewView<TObject, TView>(DirectoryEntry entry)
        where TObject : TangoObject, ITangoObject<TObject>
        where TView : TangoObject, ITangoObject<TView>
    {
        // Of the other members of its group the versions are enough, to decide transactions.
        return new SecondView(
            _beside with { LoadUnit = LoadAsync },
            member => member.Id == entry.Id ? TView.ObjectType : null, _lifetime.Token);

        // A probe loads units of which no member is the view.
        ValueTask<LoadedUnit?> LoadAsync(HostedUnit unit, LogPosition? notAbove, GroupLookup findGroup,
            CancellationToken cancellationToken) =>
            unit.TypeOf(entry) == TView.ObjectType
                ? LoadViewAsync<TObject, TView>(entry, unit, findGroup, cancellationToken)
                : LoadUnitAsync(unit, notAbove, findGroup, cancellationToken);
    }

    /// <summary>A checkpoint has the object's state, from which the view's is made.</summary>
    private async ValueTask<LoadedUnit?> LoadViewAsync<TObject, TView>(
        DirectoryEntry entry, HostedUnit unit, GroupLookup findGroup, CancellationToken cancellationToken)
        where TObject : TangoObject, ITangoObject<TObject>
        where TView : TangoObject, ITangoObject<TView>
    {
        var view = TView.ObjectType.Create();
        if (view is not ITangoViewOf<TObject> startsFrom) return null;
        var source = unit.Anew(member => member.Id == entry.Id ? TObject.ObjectType : null);
        if (await LoadUnitAsync(source, null, findGroup, cancellationToken) is not { } loaded) return null;
        source.StartFrom(loaded);
        // It was added to its group later, and begins empty.
        if (source.Find(entry.Id) is not { } member) return loaded;
        var state = TObject.ObjectType.Create();
        state.Attach(new PastHost(member, CallReader));
        await startsFrom.StartFromAsync((TObject)state);
        return loaded with
        {
            Members = [.. loaded.Members.Select(one => one.Entry.Id == entry.Id ? one with { View = view } : one)],
        };
    }
}
