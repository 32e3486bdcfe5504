using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Model;

/// <summary>
/// State of a cohort in a checkpoint, at one position for all members. A writer takes it within a cycle of the player
/// and encodes it beside playback; nothing in it changes any more. A reader gets the same back.
/// </summary>
/// <param name="End">All entries of the members' streams below it are applied, none at or above.</param>
/// <param name="Awaited">R20: commit records below <paramref name="End"/> that wait for their decision records.</param>
internal sealed record CohortSnapshot(
    LogPosition End, ImmutableArray<MemberSnapshot> Members, ImmutableArray<AwaitedDecision> Awaited)
{
    /// <summary>Bytes of the checkpoint that this was loaded from; otherwise 0.</summary>
    public long Size { get; init; }

    /// <summary>The lowest position at which a member's state has a value in the log; null: there is none.</summary>
    public LogPosition? FindLowestPlace() =>
        Members.Select(static member => (member.View as ITangoIndex)?.LowestPlace?.Position).Min();

    /// <summary>Within a cycle, when everything that it played is published.</summary>
    /// <exception cref="TangoObjectStoppedException">R23: a view that stopped is not the state at its end.</exception>
    /// <exception cref="TangoDirectoryException">A member has no view here.</exception>
    public static CohortSnapshot Take(Cohort cohort, PublishedViews published, Commits commits) => new(
        published.End, [.. cohort.Objects.Select(member => MemberSnapshot.Take(member, published))],
        commits.AwaitedBy(StreamsOf(cohort)));

    /// <summary>Takes the snapshot of a playback that has ended.</summary>
    /// <exception cref="TangoObjectStoppedException">R23: as above.</exception>
    /// <exception cref="TangoDirectoryException">As above.</exception>
    public static CohortSnapshot Take(Cohort cohort, HostedObjects hosted, Commits commits) => new(
        hosted.Applied, [.. cohort.Objects.Select(MemberSnapshot.Take)], commits.AwaitedBy(StreamsOf(cohort)));

    private static HashSet<StreamId> StreamsOf(Cohort cohort) =>
        [.. cohort.Objects.Select(static member => member.Id.Stream)];
}

/// <summary>An object in a <see cref="CohortSnapshot"/>.</summary>
/// <param name="View">A published one, which playback does not change any more, or one that was just loaded. Null: the
/// initial state, of a type that this program does not know; or there is none; or it was loaded for its versions
/// only.</param>
internal sealed record MemberSnapshot(DirectoryEntry Entry, TangoObject? View, VersionTableState Versions)
{
    /// <summary>R20: the member was deleted out of its cohort, by the record that its last version names.</summary>
    public bool IsRemoved { get; init; }

    public static MemberSnapshot Take(HostedObject member, PublishedViews published)
    {
        if (member.IsRemoved) return TakeRemoved(member);
        var view = published.Of(member);
        if (member.Type is null) return TakeInitial(member, view.Stopped);
        if (Planted.Is("checkpoint-of-a-stopped-view"))
            return new MemberSnapshot(member.Entry, view.View, member.Versions.Capture());
        return new MemberSnapshot(member.Entry, view.Require(member), member.Versions.Capture());
    }

    public static MemberSnapshot Take(HostedObject member)
    {
        if (member.IsRemoved) return TakeRemoved(member);
        if (member.Type is null) return TakeInitial(member, member.Stopped);
        return member.Stopped is { } stopped
            ? throw stopped.Told
            : new MemberSnapshot(member.Entry, member.CurrentView, member.Versions.Capture());
    }

    // No program needs to know its type.
    private static MemberSnapshot TakeRemoved(HostedObject member) =>
        new(member.Entry, null, member.Versions.Capture()) { IsRemoved = true };

    // A state that was written is not known here.
    private static MemberSnapshot TakeInitial(HostedObject member, TangoObjectStoppedException? stopped)
    {
        if (stopped is not null) throw stopped.Told;
        return member.IsInitial
            ? new MemberSnapshot(member.Entry, null, member.Versions.Capture())
            : throw TangoDirectoryException.UnknownType(member.Entry);
    }
}
