using System.Collections.Immutable;
using Corfu;

namespace Tango;

/// <summary>How far a log's prefix may be trimmed, and what holds it back.</summary>
/// <param name="Released">Everything below may be trimmed, and perhaps is.</param>
/// <param name="Claims">Lowest first; nothing at or above one is released.</param>
/// <param name="KeepPositions">So many positions below the tail are kept by <see cref="RuntimeLog.TrimAsync"/>;
/// null: no such wish.</param>
/// <param name="KeepTime">Entries younger than this are kept by it; null: no such wish.</param>
/// <param name="Streams">Raw streams that were declared.</param>
public sealed record TangoTrimPoint(
    LogPosition Released, ImmutableArray<TangoClaim> Claims, long? KeepPositions, TimeSpan? KeepTime,
    ImmutableArray<TangoDeclaredStream> Streams)
{
    internal static TangoTrimPoint Of(ImmutableArray<DirectoryEntry> objects, TrimClaims claims)
    {
        var entries = objects.Append(TangoDirectory.OwnEntry).ToDictionary(static entry => entry.Id);
        var all = claims.Cohorts
            .Select(cohort => new TangoClaim(
                cohort.Key == ObjectId.Directory ? TangoClaimKind.Directory : TangoClaimKind.Object,
                entries[cohort.Key].Name, cohort.Value.Forget, cohort.Value.Checkpoint)
            {
                Group = entries[cohort.Key].Group,
                OldestValue = cohort.Value.Lowest,
            })
            .Concat(claims.DeletedHolders
                .Select(static deleted => new TangoClaim(
                    TangoClaimKind.DeletedObject, deleted.Members[0].Name, deleted.Forget, null)))
            .Concat(claims.Holds.Select(static hold => new TangoClaim(
                TangoClaimKind.Reader, hold.Key, hold.Value.Position, null)))
            .Concat(claims.Streams.Where(static stream => stream.Value.RetainFrom is not null)
                .Select(static stream => new TangoClaim(
                    TangoClaimKind.Stream, NameOf(stream.Key, stream.Value), stream.Value.RetainFrom!.Value, null)));
        return new TangoTrimPoint(
            claims.Released, [.. all.OrderBy(static claim => claim.Position)], claims.Retention.Positions,
            claims.Retention.Time,
            [.. claims.Streams.Select(static stream => new TangoDeclaredStream(
                stream.Key, NameOf(stream.Key, stream.Value), stream.Value.RetainFrom))]);
    }

    private static string NameOf(StreamId stream, StreamClaim claim) =>
        claim.Name ?? (stream == TrimClaims.NoStream ? "(no stream)" : stream.ToString());
}

/// <summary>History from a position on that something needs.</summary>
/// <param name="Name">The object's (of a group, its first member's), the reader's or the stream's.</param>
/// <param name="Checkpoint">End of an object's newest checkpoint; null if it has none.</param>
public sealed record TangoClaim(TangoClaimKind Kind, string Name, LogPosition Position, LogPosition? Checkpoint)
{
    /// <summary>The group that is claimed for, or null; its claim rises with checkpoints of a program that knows the
    /// types of all members.</summary>
    public string? Group { get; init; }

    /// <summary>Position of the oldest value in the log that the newest checkpoint's state has; null if it has none.
    /// Only an <see cref="ITangoIndex"/> object has one.</summary>
    public LogPosition? OldestValue { get; init; }

    /// <summary>The claim rises when the object's oldest values are written again, replaced or removed. Another
    /// checkpoint alone does not let it rise.</summary>
    public bool IsHeldByValues => OldestValue <= Position;
}

/// <summary>Kinds of claims on history.</summary>
public enum TangoClaimKind
{
    /// <summary>An object or a group; its claim rises with its checkpoints.</summary>
    Object,

    /// <summary>The directory, which has checkpoints like an object.</summary>
    Directory,

    /// <summary>A deleted object, until the others have checkpoints from after its deletion.</summary>
    DeletedObject,

    /// <summary>A reader or a feed that registered; its claim ends when it moves on, or with its lease.</summary>
    Reader,

    /// <summary>A raw stream that was declared to be retained.</summary>
    Stream,
}

/// <summary>A raw stream that was declared.</summary>
/// <param name="RetainFrom">Null: its entries need not be kept.</param>
public sealed record TangoDeclaredStream(StreamId Stream, string Name, LogPosition? RetainFrom);
