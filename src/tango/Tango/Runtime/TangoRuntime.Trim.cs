using System.Collections.Immutable;
using Corfu;

namespace Tango;

public sealed partial class TangoRuntime
{
    /// <summary>Stands for raw entries that are in no stream, where a stream is declared.</summary>
    public static StreamId NoStream => TrimClaims.NoStream;

    /// <summary>The longest lease of a reader, and the longest time to keep entries.</summary>
    public static TimeSpan LongestDuration => TimeSpan.FromDays(36_500);

    internal Trimmer Trimmer { get; }

    /// <summary>Handle of the directory. Its calls need <see cref="AttachDirectoryAsync"/> or an open object before,
    /// and no transaction.</summary>
    internal TangoDirectory Directory => _directory;

    /// <summary>How far the log may be trimmed, and what holds it back.</summary>
    public async ValueTask<TangoTrimPoint> ReadTrimPointAsync(CancellationToken cancellationToken = default)
    {
        await OpenDirectoryAsync(cancellationToken);
        var (objects, claims) = await _directory.ReadNamesAndClaimsAsync(cancellationToken);
        return TangoTrimPoint.Of(objects, claims);
    }

    /// <summary>
    /// Trims what no claim needs, and what users' retention and undeclared raw entries leave. Call it now and then, in
    /// any runtime: claims rise with checkpoints, and leases expire while one runtime calls it again and again.
    /// </summary>
    /// <returns>The trim point as it is now.</returns>
    public async ValueTask<LogPosition> TrimAsync(CancellationToken cancellationToken = default)
    {
        await OpenDirectoryAsync(cancellationToken);
        return (await Trimmer.TrimAsync(cancellationToken)).Released;
    }

    /// <summary>Trims everything below a position, if no claim needs it. Retention and undeclared raw entries do not
    /// count: the caller has decided about them.</summary>
    /// <exception cref="TangoClaimedException">A claim needs some of it. Nothing was done.</exception>
    public async ValueTask TrimBelowAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        var point = await ReadTrimPointAsync(cancellationToken);
        RequireUnclaimed(point, below);
        // A log of raw entries has no directory, and gets none by this.
        if (DirectoryView.Claims.Cohorts.Count > 0 && below > point.Released)
        {
            var released = await _directory.ReleaseAsync(below, cancellationToken);
            if (released < below) RequireUnclaimed(await ReadTrimPointAsync(cancellationToken), below);
            below = LogPosition.Min(below, released);
        }

        await _log.TrimPrefixAsync(below, cancellationToken);
    }

    /// <summary>Says how much is kept though no claim needs it, for <see cref="TrimAsync"/>.</summary>
    /// <param name="positions">Number of positions below the tail; null: none.</param>
    /// <param name="time">Entries younger than this, by their writers' clocks; null: none.</param>
    public async ValueTask RetainAsync(
        long? positions, TimeSpan? time, CancellationToken cancellationToken = default)
    {
        if (positions is { } count) ArgumentOutOfRangeException.ThrowIfNegative(count, nameof(positions));
        if (time is { } kept) RequireDuration(kept, nameof(time));
        await OpenDirectoryAsync(cancellationToken);
        await _directory.RetainAsync(new Retention(positions, time), cancellationToken);
    }

    /// <summary>Says what is kept of a raw stream's entries. Until then <see cref="TrimAsync"/> trims nothing from its
    /// first entry on.</summary>
    /// <param name="stream">Raw; or <see cref="NoStream"/>.</param>
    /// <param name="name">For people; null if only the number is known.</param>
    /// <param name="retainFrom">Null: its entries need not be kept.</param>
    /// <exception cref="TangoRejectedException">The stream is an object's, or what is to be retained is
    /// released.</exception>
    public async ValueTask DeclareStreamAsync(
        StreamId stream, string? name, LogPosition? retainFrom, CancellationToken cancellationToken = default)
    {
        if (name is not null) RequireName(name);
        await OpenDirectoryAsync(cancellationToken);
        await _directory.DeclareAsync(stream, new StreamClaim(name, retainFrom), cancellationToken);
    }

    /// <summary>Claims history from a position on for a reader of the log, under a name that no other reader has. Call
    /// it again to move on, and within the lease to renew it.</summary>
    /// <returns>The version, to let go with.</returns>
    /// <exception cref="TangoRejectedException">History from there on is not all there any more.</exception>
    public async ValueTask<long> HoldAsync(
        string name, LogPosition position, TimeSpan lease, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        RequireDuration(lease, nameof(lease));
        await OpenDirectoryAsync(cancellationToken);
        return await _directory.HoldAsync(name, position, lease, cancellationToken);
    }

    /// <summary>Ends a claim of <see cref="HoldAsync"/>, unless it was renewed since.</summary>
    public async ValueTask LetGoAsync(string name, long version, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        await OpenDirectoryAsync(cancellationToken);
        await _directory.ExpireAsync(name, version, cancellationToken);
    }

    private static void RequireUnclaimed(TangoTrimPoint point, LogPosition below)
    {
        ImmutableArray<TangoClaim> needed = [.. point.Claims.Where(claim => claim.Position < below)];
        if (!needed.IsEmpty) throw new TangoClaimedException(below, needed);
    }

    private static void RequireDuration(TimeSpan value, string name)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.Zero, name);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(value, LongestDuration, name);
    }
}
