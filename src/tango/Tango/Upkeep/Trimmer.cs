using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;

namespace Tango;

/// <summary>
/// Trims the log's prefix as far as claims, users' retention and undeclared raw entries allow. Any number of runtimes
/// may do so at once: the trim point is a record, and each trims below one that it has applied.
/// </summary>
internal sealed class Trimmer(
    ICorfuLog log, TangoDirectory directory, TimeProvider time, LoopContext loops, ILogger logger)
{
    private const int Batch = 256;

    private readonly SemaphoreSlim _one = new(1, 1);

    // Everything below runs under _one.

    // No entry below forbids its trim, under this retention. Never above what claims allowed when it was looked at.
    private LogPosition _examined;
    private Retention _examinedFor;

    // Position below which this instance has trimmed.
    private LogPosition _trimmed;

    // Leases by name: the version, and since when it is known here.
    private readonly Dictionary<string, (long Version, long Since)> _leases = new(StringComparer.Ordinal);
    private LogPosition? _reported;

    /// <summary>
    /// Trims what is not needed: (1) lets leases expire that were not renewed, (2) takes the lowest claim and users'
    /// retention, (3) stops at the first raw entry that was not declared, or that is too young, (4) asks for the
    /// release, and (5) trims below what the applied record released.
    /// </summary>
    /// <returns>The trim point, and what keeps it from rising.</returns>
    // The next trim waits for it, whatever becomes of the caller's context.
    public async ValueTask<TrimResult> TrimAsync(CancellationToken cancellationToken) =>
        await loops.RunAsync(() => TrimAloneAsync(cancellationToken));

    private async Task<TrimResult> TrimAloneAsync(CancellationToken cancellationToken)
    {
        await _one.WaitAsync(cancellationToken);
        try
        {
            var claims = await directory.ReadClaimsAsync(cancellationToken);
            if (await ExpireLeasesAsync(claims, cancellationToken))
                claims = await directory.ReadClaimsAsync(cancellationToken);
            var end = await BoundAsync(claims, cancellationToken);
            var (allowed, undeclared) = await ExamineAsync(claims, end, cancellationToken);
            Report(allowed, undeclared);
            if (Planted.Is("trim-before-the-record-is-applied"))
                await log.TrimPrefixAsync(LogPosition.Max(allowed, claims.Released), cancellationToken);
            var released = allowed > claims.Released
                ? await directory.ReleaseAsync(allowed, cancellationToken)
                : claims.Released;
            if (released > _trimmed) await log.TrimPrefixAsync(released, cancellationToken);
            _trimmed = LogPosition.Max(_trimmed, released);
            return new TrimResult(released, undeclared);
        }
        finally
        {
            _one.Release();
        }
    }

    /// <summary>An observer that saw no renewal for a lease's time, on its own clock, lets it expire by a
    /// record.</summary>
    private async ValueTask<bool> ExpireLeasesAsync(TrimClaims claims, CancellationToken cancellationToken)
    {
        foreach (var gone in _leases.Keys.Where(name => !claims.Holds.ContainsKey(name)).ToList()) _leases.Remove(gone);
        var expired = false;
        foreach (var (name, hold) in claims.Holds)
        {
            if (!_leases.TryGetValue(name, out var known) || known.Version != hold.Version)
            {
                _leases[name] = (hold.Version, time.GetTimestamp());
                continue;
            }

            if (time.GetElapsedTime(known.Since) < hold.Lease) continue;
            await directory.ExpireAsync(name, hold.Version, cancellationToken);
            logger.LogInformation("The claim of reader {Name} at {Position} has expired", name, hold.Position);
            expired = true;
        }

        return expired;
    }

    private async ValueTask<LogPosition> BoundAsync(TrimClaims claims, CancellationToken cancellationToken)
    {
        var tail = (await log.CheckAsync([], ReadConsistency.Session, cancellationToken)).Tail.Offset;
        var end = Math.Min(claims.Lowest.Offset, tail - (claims.Retention.Positions ?? 0));
        return new LogPosition(Math.Max(end, 0));
    }

    /// <summary>Reads the headers of what is to be released, each once: raw entries tell their streams nowhere
    /// else.</summary>
    /// <returns>The first position that must stay, and the undeclared stream, if that is why.</returns>
    private async ValueTask<(LogPosition Allowed, UndeclaredStream? Undeclared)> ExamineAsync(
        TrimClaims claims, LogPosition end, CancellationToken cancellationToken)
    {
        if (_examinedFor != claims.Retention) (_examined, _examinedFor) = (claims.Released, claims.Retention);
        _examined = LogPosition.Max(_examined, claims.Released);
        var youngest = time.GetUtcNow() - (claims.Retention.Time ?? TimeSpan.Zero);
        while (_examined < end)
        {
            ImmutableArray<LogPosition> positions =
                [.. Enumerable.Range(0, (int)Math.Min(Batch, end - _examined)).Select(i => _examined + i)];
            var results = await log.ReadManyAsync(positions, ReadDetail.Headers, ReadMode.CloseHoles,
                cancellationToken);
            foreach (var result in results)
            {
                if (result is { IsData: true, Entry: { } entry })
                {
                    if (claims.Retention.Time is not null && entry.WriterTime > youngest) return (_examined, null);
                    if (FirstUndeclared(claims, entry) is { } stream)
                        return (_examined, new UndeclaredStream(stream, _examined));
                }

                _examined = _examined.Next;
            }
        }

        return (end, null);
    }

    private static StreamId? FirstUndeclared(TrimClaims claims, LogEntry entry)
    {
        if (entry.Streams.IsEmpty)
            return claims.Streams.ContainsKey(TrimClaims.NoStream) ? null : TrimClaims.NoStream;
        foreach (var header in entry.Streams)
        {
            if (header.Stream.Value >= StreamId.FirstRawValue && !claims.Streams.ContainsKey(header.Stream))
                return header.Stream;
        }

        return null;
    }

    private void Report(LogPosition allowed, UndeclaredStream? undeclared)
    {
        if (undeclared is { } found && _reported != allowed)
        {
            _reported = allowed;
            logger.LogWarning(
                "The log is not trimmed beyond {Position}: {Stream} has raw entries, and it is not declared whether "
                + "they are needed. 'corfu stream release' or 'corfu stream retain' does", found.Position,
                found.Stream == TrimClaims.NoStream ? "no stream" : $"stream {found.Stream}");
        }
    }
}

/// <summary>Result of a trim.</summary>
/// <param name="Undeclared">Not null: this is what keeps it from rising, not a claim.</param>
internal sealed record TrimResult(LogPosition Released, UndeclaredStream? Undeclared);

/// <summary>A raw entry of a stream that was not declared.</summary>
/// <param name="Stream"><see cref="TrimClaims.NoStream"/>: the entry is in none.</param>
internal sealed record UndeclaredStream(StreamId Stream, LogPosition Position);
