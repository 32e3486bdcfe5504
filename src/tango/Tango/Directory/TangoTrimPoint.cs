using System.Collections.Immutable;
using Corfu;

namespace Tango;

/// <summary>How far a log's prefix may be trimmed, and what holds it back.</summary>
/// <param name="Released">Everything below may be trimmed, and perhaps is.</param>
/// <param name="Claims">Lowest first; nothing at or above one is released.</param>
/// <param name="KeepPositions">Positions below the tail that <see cref="RuntimeLog.TrimAsync"/> keeps;
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

/// <summary>A raw stream that was declared.</summary>
/// <param name="RetainFrom">Null: its entries need not be kept.</param>
public sealed record TangoDeclaredStream(StreamId Stream, string Name, LogPosition? RetainFrom);
