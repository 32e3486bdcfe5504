using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Model;
using Tango.Playback;
using Tango.Runtime;

namespace Tango;

/// <summary>The log that the objects are in: what is kept of it and for whom, and its feature level:
/// <see cref="TangoRuntime.Log"/>.</summary>
public sealed class RuntimeLog
{
    private readonly DirectoryAccess _access;
    private readonly PlayedDirectory _played;
    private readonly ViewPublisher _views;
    private readonly Trimmer _trimmer;
    private readonly int _newestLevel;
    private readonly ILogger _logger;

    internal RuntimeLog(
        RuntimeEnvironment given, DirectoryAccess access, PlayedDirectory played, ViewPublisher views, Trimmer trimmer)
    {
        (Raw, _logger, _newestLevel) = (given.Log, given.Logger, given.Options.NewestLevel);
        (_access, _played, _views, _trimmer) = (access, played, views, trimmer);
    }

    /// <summary>Stands for raw entries that are in no stream, where a stream is declared.</summary>
    public static StreamId NoStream => TrimClaims.NoStream;

    /// <summary>The longest lease of a reader, and the longest time to keep entries.</summary>
    public static TimeSpan LongestDuration => TimeSpan.FromDays(36_500);

    /// <summary>The log itself, for raw streams beside the objects.</summary>
    public ICorfuLog Raw { get; }

    /// <summary>Everything below has been played into the views that reads see now.</summary>
    public LogPosition PlayedTo => _views.Published.End;

    /// <summary>How many positions the log is kept below the checkpoints of objects: what a record names stands at most
    /// so far below it. Fixed with the log's first object; known once an object is open.</summary>
    public long MaxSpan => _played.MaxSpan;

    /// <summary>The newest feature level that this code knows.</summary>
    public static int NewestLevel => FeatureLevel.Newest;

    /// <summary>The feature level from which on a call may have several keys.</summary>
    public static int KeyListLevel => FeatureLevel.KeyLists;

    /// <summary>The log's feature level: what its clients may write into it.</summary>
    /// <exception cref="TangoLevelException">The level is higher than <see cref="NewestLevel"/>.</exception>
    public async ValueTask<int> ReadLevelAsync(CancellationToken cancellationToken = default)
    {
        var directory = await _access.OpenAsync(cancellationToken);
        return await directory.ReadLevelAsync(cancellationToken);
    }

    /// <summary>
    /// Raises the log's feature level for good. Call it once every client of the log runs code that knows the level:
    /// older code stops at this record.
    /// </summary>
    /// <returns>The log's level, which may have been higher.</returns>
    /// <exception cref="ArgumentOutOfRangeException">This code does not know the level. Nothing was
    /// written.</exception>
    public async ValueTask<int> RaiseLevelAsync(int level, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(level, FeatureLevel.First);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(level, _newestLevel);
        var directory = await _access.OpenAsync(cancellationToken);
        var known = await directory.ReadLevelAsync(cancellationToken);
        if (known >= level) return known;
        var raised = await directory.RaiseLevelAsync(level, cancellationToken);
        _logger.LogInformation("The log's feature level was raised from {Known} to {Level}", known, raised);
        return raised;
    }

    /// <summary>How far the log may be trimmed, and what holds it back.</summary>
    public async ValueTask<TangoTrimPoint> ReadTrimPointAsync(CancellationToken cancellationToken = default)
    {
        var directory = await _access.OpenAsync(cancellationToken);
        var (objects, claims) = await directory.ReadNamesAndClaimsAsync(cancellationToken);
        return TangoTrimPoint.Of(objects, claims);
    }

    /// <summary>
    /// Trims what no claim needs, and what users' retention and undeclared raw entries leave. Call it now and then, in
    /// any runtime: claims rise with checkpoints, and leases expire while one runtime calls it again and again.
    /// </summary>
    /// <returns>The trim point as it is now.</returns>
    public async ValueTask<LogPosition> TrimAsync(CancellationToken cancellationToken = default)
    {
        await _access.OpenAsync(cancellationToken);
        return (await _trimmer.TrimAsync(cancellationToken)).Released;
    }

    /// <summary>Trims everything below a position, if no claim needs it. Retention and undeclared raw entries do not
    /// count: the caller has decided about them.</summary>
    /// <exception cref="TangoClaimedException">A claim needs some of it. Nothing was done.</exception>
    public async ValueTask TrimBelowAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        var point = await ReadTrimPointAsync(cancellationToken);
        RequireUnclaimed(point, below);
        // A log of raw entries has no directory, and gets none by this.
        if (_played.Published.Claims.Cohorts.Count > 0 && below > point.Released)
        {
            var directory = await _access.OpenAsync(cancellationToken);
            var released = await directory.ReleaseAsync(below, cancellationToken);
            if (released < below) RequireUnclaimed(await ReadTrimPointAsync(cancellationToken), below);
            below = LogPosition.Min(below, released);
        }

        await Raw.TrimPrefixAsync(below, cancellationToken);
    }

    /// <summary>Says how much is kept though no claim needs it, for <see cref="TrimAsync"/>.</summary>
    /// <param name="positions">Number of positions below the tail; null: none.</param>
    /// <param name="time">Entries younger than this, by their writers' clocks; null: none.</param>
    public async ValueTask RetainAsync(
        long? positions, TimeSpan? time, CancellationToken cancellationToken = default)
    {
        if (positions is { } count) ArgumentOutOfRangeException.ThrowIfNegative(count, nameof(positions));
        if (time is { } kept) RequireDuration(kept, nameof(time));
        var directory = await _access.OpenAsync(cancellationToken);
        await directory.RetainAsync(new Retention(positions, time), cancellationToken);
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
        if (name is not null) ObjectNames.Require(name);
        var directory = await _access.OpenAsync(cancellationToken);
        await directory.DeclareAsync(stream, new StreamClaim(name, retainFrom), cancellationToken);
    }

    /// <summary>Claims history from a position on for a reader of the log, under a name that no other reader has. Call
    /// it again to move on, and within the lease to renew it.</summary>
    /// <returns>The version, to let go with.</returns>
    /// <exception cref="TangoRejectedException">History from there on is not all there any more.</exception>
    public async ValueTask<long> HoldAsync(
        string name, LogPosition position, TimeSpan lease, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(name);
        RequireDuration(lease, nameof(lease));
        var directory = await _access.OpenAsync(cancellationToken);
        return await directory.HoldAsync(name, position, lease, cancellationToken);
    }

    /// <summary>Ends a claim of <see cref="HoldAsync"/>, unless it was renewed since.</summary>
    public async ValueTask LetGoAsync(string name, long version, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(name);
        var directory = await _access.OpenAsync(cancellationToken);
        await directory.ExpireAsync(name, version, cancellationToken);
    }

    /// <summary>Ends the claim of a registered feed whose reader does not come back, without waiting for its
    /// lease.</summary>
    public async ValueTask EndFeedAsync(string name, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(name);
        var directory = await _access.OpenAsync(cancellationToken);
        var claims = await directory.ReadClaimsAsync(cancellationToken);
        if (claims.Holds.TryGetValue(name, out var hold))
            await directory.ExpireAsync(name, hold.Version, cancellationToken);
    }

    /// <summary>R23: stands before everything that code of a lower level cannot read: nothing yet, since all formats
    /// are of the first level. Levels only rise, so that what was played decides; a lower one is looked up
    /// anew.</summary>
    /// <param name="what">Name of what is to be written, as in "A checkpoint".</param>
    /// <exception cref="TangoLevelException">The log's level is lower. Nothing was written.</exception>
    internal async ValueTask RequireLevelAsync(int level, string what, CancellationToken cancellationToken)
    {
        var directory = await _access.OpenAsync(cancellationToken);
        if (_played.Published.Level >= level) return;
        var known = await directory.ReadLevelAsync(cancellationToken);
        if (known < level) throw TangoLevelException.TooLow(what, known, level, _newestLevel);
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
