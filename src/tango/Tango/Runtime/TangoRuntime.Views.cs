using Tango.Feeds;
using Tango.SecondViews;

namespace Tango;

public sealed partial class TangoRuntime
{
    // Second views tell their readers no places, so that progress is not needed.
    private static readonly FeedOptions s_everyChange = new() { ProgressEvery = long.MaxValue };

    private readonly Lock _viewsGate = new();

    // Guarded by _viewsGate: those that were opened, by type and object.
    private readonly Dictionary<(string Type, ObjectId Object), ISecondView> _views = [];

    /// <summary>
    /// Opens a second, read-only view over an object's history: a class with the same mutators that makes another state
    /// of them (Tango 3.1). Reads are linearizable. The object need not be open here; its own view stays as it is.
    /// </summary>
    /// <remarks>
    /// The view applies the object's changes as <see cref="ChangesAsync{T}(string, ChangePlace?, FeedOptions?,
    /// CancellationToken)"/> tells them: what took effect, and not what the object refused. Without
    /// <see cref="ITangoViewOf{TObject}"/> it is played from the object's first record, which is impossible once
    /// history was trimmed; with it, it starts from the object's newest checkpoint. It cannot be read in a transaction.
    /// Each type of view of an object has a copy of the object's state beside its own, for as long as the runtime
    /// lives.
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
        TObject.ObjectType.VerifyFormatters();
        TView.ObjectType.VerifyFormatters();
        RequireMutators(TObject.ObjectType, TView.ObjectType);
        // The claims are those of the object's own state.
        if (TView.ObjectType.IsIndex && !TObject.ObjectType.IsIndex)
            throw new TangoDirectoryException(
                $"{TView.ObjectType.Name} keeps values in the log, and {TObject.ObjectType.Name} claims none there");
        await AttachDirectoryAsync(cancellationToken);
        var entry = await FindAsync(name, TObject.ObjectType, cancellationToken);
        var members = await FindCohortAsync(entry, cancellationToken);
        ISecondView? view;
        lock (_viewsGate)
        {
            if (!_views.TryGetValue((TView.ObjectType.Name, entry.Id), out view))
                _views[(TView.ObjectType.Name, entry.Id)] = view = new SecondView<TObject, TView>(
                    entry, () => NewFeed<TObject>(entry, members, null, s_everyChange, _lifetime.Token), Loops);
        }

        // The first read fails here if the view cannot be made.
        await view.ReadAsync(cancellationToken);
        var handle = TView.ObjectType.Create();
        handle.Attach(new SecondViewHost(this, view, entry, TView.ObjectType.HoldsMutableValues));
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
