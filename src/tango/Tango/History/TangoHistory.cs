using System.Collections.Immutable;
using Corfu;
using Tango.History;
using Tango.Model;
using Tango.Playback;
using Tango.Runtime;

namespace Tango;

/// <summary>
/// All objects as they were at one position of the log: read-only, beside those that are open. What is opened from one
/// history is of one position, so that no transaction is seen in part. Safe for concurrent use.
/// </summary>
/// <remarks>An object is played when it is opened, from its newest checkpoint below. Afterwards it is in memory, and
/// the log below may be trimmed. There is nothing to dispose of.</remarks>
public sealed class TangoHistory
{
    private readonly PastPlayback _past;
    private readonly PlayedDirectory _now;
    private readonly CallReader _calls;
    private readonly TangoDirectory _directory;
    private readonly Lock _gate = new();

    // Guarded by _gate: played to the position, by first member. Their views do not change any more.
    private readonly Dictionary<ObjectId, Cohort> _cohorts = [];

    internal TangoHistory(
        PastPlayback past, PlayedDirectory now, CallReader calls, LogPosition position, HostedObject directory)
    {
        (_past, _now, _calls, Position) = (past, now, calls, position);
        _directory = (TangoDirectory)directory.CurrentView!;
        Objects = _directory.Entries;
    }

    /// <summary>Everything below is included, nothing at or above.</summary>
    public LogPosition Position { get; }

    /// <summary>The objects that there were, by name.</summary>
    public ImmutableArray<DirectoryEntry> Objects { get; }

    /// <summary>Opens the object that had this name, which may have been deleted since. Accessors of the handle read
    /// its state at <see cref="Position"/>; mutators fail with <see cref="TangoReadOnlyException"/>.</summary>
    /// <exception cref="TangoObjectNotFoundException">There was no such object.</exception>
    /// <exception cref="TangoDirectoryException">The object is of another type.</exception>
    /// <exception cref="TangoTrimmedException">The object's history is trimmed, and no checkpoint below the position
    /// can be loaded.</exception>
    public async ValueTask<T> OpenAsync<T>(string name, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T>
    {
        ObjectNames.Require(name);
        var entry = Find(name);
        T.ObjectType.RequireIs(entry);
        var member = await PlayAsync(entry, T.ObjectType, cancellationToken);
        var handle = T.ObjectType.Create();
        handle.Attach(new PastHost(member, _calls));
        return (T)handle;
    }

    /// <exception cref="TangoObjectNotFoundException">There was no such object.</exception>
    /// <exception cref="TangoDirectoryException">The object's type is not known.</exception>
    internal (DirectoryEntry Entry, TangoObjectType Type) FindForFork(string name, TangoTypeRegistry types)
    {
        var entry = Find(name);
        return (entry, types.Get(entry));
    }

    /// <summary>The object with its cohort, played to the position. It does not change any more.</summary>
    internal async ValueTask<HostedObject> PlayAsync(
        DirectoryEntry entry, TangoObjectType type, CancellationToken cancellationToken)
    {
        var members = _directory.GroupOf(entry.Id);
        lock (_gate)
        {
            if (_cohorts.TryGetValue(members[0].Id, out var known) && MemberOf(known, entry) is { Type: not null } open)
                return open;
        }

        var cohort = await _past.PlayAsync(members, entry, type, Position, cancellationToken);
        lock (_gate) _cohorts[members[0].Id] = cohort;
        return MemberOf(cohort, entry);
    }

    private DirectoryEntry Find(string name)
    {
        if (_directory.Find(name) is { } found) return found;
        var forked = _now.LastPublished.Find(name)?.Origin;
        var hint = forked is null
            ? ""
            : $": it was made later, from '{forked.Source}' as of {forked.Position.Offset}. Open that";
        throw new TangoObjectNotFoundException(name, $"There was no object '{name}' at {Position.Offset}{hint}");
    }

    private static HostedObject MemberOf(Cohort cohort, DirectoryEntry entry) =>
        cohort.Objects.First(member => member.Id == entry.Id);
}
