using System.Collections.Immutable;
using Corfu;

namespace Tango;

// Calls that the handle offers to the runtime; each is one record, or a read of the newest view.
internal sealed partial class TangoDirectory
{
    /// <summary>Creates the objects, or returns them if they exist exactly so.</summary>
    /// <param name="begin">Has an effect if these are the log's first objects.</param>
    /// <param name="group">Null: one object on its own.</param>
    public ValueTask<ImmutableArray<DirectoryEntry>> CreateAsync(
        LogBeginning begin, string? group, ImmutableArray<NewObject> members, CancellationToken cancellationToken)
    {
        var arguments = DirectoryFormat.Create(begin, group, members);
        return CallAsync<ImmutableArray<DirectoryEntry>>(Mutators.Create, arguments, cancellationToken);
    }

    /// <returns>The log's level, which may have been higher.</returns>
    public ValueTask<int> RaiseLevelAsync(int level, CancellationToken cancellationToken) =>
        CallAsync<int>(Mutators.RaiseLevel, DirectoryFormat.RaiseLevel(level), cancellationToken);

    /// <returns>The log's level.</returns>
    public ValueTask<int> ReadLevelAsync(CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, ValueTuple, int>(
            ObjectKey.None, default, static (view, _) => view._level, cancellationToken);

    public ValueTask<DirectoryEntry?> FindAsync(string name, CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, string, DirectoryEntry?>(
            ObjectKey.None, name, static (view, n) => view._objects.GetValueOrDefault(n), cancellationToken);

    /// <summary>The group's members, removed ones too, the first one first.</summary>
    public ValueTask<ImmutableArray<DirectoryEntry>> FindGroupAsync(string group,
        CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, string, ImmutableArray<DirectoryEntry>>(
            ObjectKey.None, group, static (view, g) => view._groups.GetValueOrDefault(g, []), cancellationToken);

    public ValueTask<ImmutableArray<DirectoryEntry>> ListAsync(CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, ValueTuple, ImmutableArray<DirectoryEntry>>(
            ObjectKey.None, default, static (view, _) => [.. view._objects.Values], cancellationToken);

    /// <summary>The trim point and what holds it back.</summary>
    public ValueTask<TrimClaims> ReadClaimsAsync(CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, ValueTuple, TrimClaims>(
            ObjectKey.None, default, static (view, _) => view._claims, cancellationToken);

    /// <summary>The names that exist, and the trim point: of one moment.</summary>
    public ValueTask<(ImmutableArray<DirectoryEntry> Objects, TrimClaims Claims)> ReadNamesAndClaimsAsync(
        CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, ValueTuple, (ImmutableArray<DirectoryEntry>, TrimClaims)>(
            ObjectKey.None, default, static (view, _) => ([.. view._objects.Values], view._claims), cancellationToken);

    /// <summary>A checkpoint of the cohort was read back from the log and counts.</summary>
    /// <param name="cohort">First member of the cohort.</param>
    /// <param name="end">Everything of the cohort's streams below is in the checkpoint.</param>
    /// <param name="forget">Nothing below is needed by this host; the claim may stay lower (R19).</param>
    /// <param name="lowest">The lowest position at which the cohort's state has a value in the log; null: it has none
    /// there now.</param>
    /// <returns>The cohort's claim as it is now; another host's newer checkpoint stays.</returns>
    /// <exception cref="TangoRejectedException">The cohort is gone, or what is claimed lies below what is released:
    /// look at the claims again.</exception>
    public ValueTask<CohortClaim> CheckpointedAsync(ObjectId cohort, LogPosition end, LogPosition forget,
        LogPosition? lowest, CancellationToken cancellationToken) =>
        CallAsync<CohortClaim>(
            Mutators.Checkpointed, ClaimFormat.Checkpointed(cohort, end, forget, lowest), cancellationToken);

    /// <summary>Releases history up to the position asked for, or as far as claims allow.</summary>
    /// <returns>The trim point. The record is applied: everything below it may be trimmed.</returns>
    public ValueTask<LogPosition> ReleaseAsync(LogPosition asked, CancellationToken cancellationToken) =>
        CallAsync<LogPosition>(Mutators.Release, ClaimFormat.Release(asked), cancellationToken);

    /// <summary>Claims history from a position on for a reader, under a name of its own; again to move on or to renew
    /// the lease.</summary>
    /// <returns>The version to let go with.</returns>
    /// <exception cref="TangoRejectedException">The position is below what is released.</exception>
    public ValueTask<long> HoldAsync(
        string name, LogPosition position, TimeSpan lease, CancellationToken cancellationToken) =>
        CallAsync<long>(Mutators.Hold, ClaimFormat.Hold(name, position, lease), cancellationToken);

    /// <summary>Ends a reader's claim of that version; one that was renewed meanwhile stays.</summary>
    public ValueTask ExpireAsync(string name, long version, CancellationToken cancellationToken) =>
        UpdateHelperAsync(
            Mutators.Of(Mutators.Expire), ObjectKey.None, ClaimFormat.Expire(name, version), cancellationToken);

    public ValueTask RetainAsync(Retention retention, CancellationToken cancellationToken) =>
        UpdateHelperAsync(
            Mutators.Of(Mutators.Retain), ObjectKey.None, ClaimFormat.Retain(retention), cancellationToken);

    /// <exception cref="TangoRejectedException">The stream is no raw stream, or what is to be retained is
    /// released.</exception>
    public ValueTask DeclareAsync(StreamId stream, StreamClaim claim, CancellationToken cancellationToken) =>
        UpdateHelperAsync(
            Mutators.Of(Mutators.Declare), ObjectKey.None, ClaimFormat.Declare(stream, claim), cancellationToken);

    /// <summary>Creates an object that begins with a checkpoint of the record's position. It is there once
    /// <see cref="CheckpointedAsync"/> was told of that; until then the log is held from there on.</summary>
    /// <param name="lease">How long it is held without a checkpoint.</param>
    /// <exception cref="TangoRejectedException">The name is taken, no more ids, or too many readers hold the
    /// log.</exception>
    public ValueTask<DirectoryEntry> CreateForkAsync(
        NewObject fork, ForkOrigin origin, TimeSpan lease, CancellationToken cancellationToken) =>
        CallAsync<DirectoryEntry>(
            Mutators.CreateFork, DirectoryFormat.CreateFork(fork, origin, lease), cancellationToken);

    /// <exception cref="TangoRejectedException">The new name is taken, or the object is gone, or is not called
    /// <paramref name="name"/> any more.</exception>
    public ValueTask RenameAsync(
        ObjectId id, string name, string newName, CancellationToken cancellationToken) => UpdateHelperAsync(
            Mutators.Of(Mutators.Rename), ObjectKey.None, DirectoryFormat.Rename(id, name, newName), cancellationToken);

    /// <summary>Has the name and an id kept for a new member of the group, or finds the member that there is.</summary>
    /// <exception cref="TangoRejectedException">The name is taken, there is no such group, or it is full.</exception>
    public ValueTask<DirectoryEntry> ReserveMemberAsync(
        string group, NewObject member, CancellationToken cancellationToken) =>
        CallAsync<DirectoryEntry>(
            Mutators.ReserveMember, DirectoryFormat.ReserveMember(group, member), cancellationToken);

    private ValueTask<T> CallAsync<T>(int mutator, ArgumentBuffer arguments, CancellationToken cancellationToken) =>
        UpdateHelperAsync<T>(Mutators.Of(mutator), ObjectKey.None, arguments, cancellationToken);

    /// <summary>If such updates counted for the directory's own checkpoints, these would feed themselves.</summary>
    public static bool FollowsFromCheckpoints(int mutator) => mutator is
        Mutators.Checkpointed or Mutators.Release;

    /// <summary>Numbers are part of the format. All wait for playback: they return a value or may reject.</summary>
    internal static class Mutators
    {
        public const int Create = 1;
        public const int RaiseLevel = 2;

        /// <summary>The entry stands in the streams of the cohort's members too. Where one member is deleted alone, it
        /// stands in that member's stream and the first one's.</summary>
        public const int Delete = 3;

        public const int Rename = 4;
        public const int Checkpointed = 5;
        public const int Release = 6;
        public const int Hold = 7;
        public const int Expire = 8;
        public const int Retain = 9;
        public const int Declare = 10;
        public const int CreateFork = 11;
        public const int ReserveMember = 12;

        /// <summary>The entry stands in the streams of the cohort's first member and of the new one too.</summary>
        public const int AddMember = 13;

        private static readonly string[] s_names =
        [
            nameof(Create), nameof(RaiseLevel), nameof(Delete), nameof(Rename), nameof(Checkpointed), nameof(Release),
            nameof(Hold), nameof(Expire), nameof(Retain), nameof(Declare), nameof(CreateFork), nameof(ReserveMember),
            nameof(AddMember),
        ];

        public static MutatorInfo[] All { get; } =
            [.. s_names.Select(static (name, i) => new MutatorInfo(i + 1, name, Reads: true))];

        public static MutatorInfo Of(int mutator) => All[mutator - 1];

        public static bool IsAboutNames(int mutator) => mutator is
            Create or RaiseLevel or CreateFork or Delete or Rename;

        public static bool IsAboutMembers(int mutator) => mutator is ReserveMember or AddMember;

        public static bool IsAboutClaims(int mutator) => mutator is >= Checkpointed and <= Declare;
    }
}
