namespace Corfu;

/// <summary>The shared log (CORFU 2.1, Tango 2.2): append, read, check, fill, trim. Everything above the log (streams,
/// Tango) uses only this. Implementations are safe for concurrent use.</summary>
public interface ICorfuLog
{
    /// <summary>Largest payload of one append, in bytes.</summary>
    int MaxPayload { get; }

    /// <summary>Appends one entry that belongs to all of <paramref name="streams"/> (any number, no duplicates), which
    /// are raw: <see cref="StreamId.FromName"/>, or ids from <see cref="StreamId.FirstRawValue"/> on.
    /// Durable at every replica of its chain when <see cref="AppendOutcome.Appended"/> is returned. Concurrent appends
    /// are not ordered by call order.</summary>
    /// <exception cref="ArgumentException">A stream is named twice. Nothing was done.</exception>
    /// <exception cref="EntryTooLargeException">Nothing was done.</exception>
    /// <exception cref="StreamRangeException">A stream is in the range of Tango's objects. Nothing was
    /// done.</exception>
    /// <exception cref="CorfuException">Nothing is in the log, whatever the reason: a doubt is an
    /// <see cref="AppendOutcome.Unknown"/>.</exception>
    /// <exception cref="OperationCanceledException">Cancelled before a position was granted; after that, cancellation
    /// yields <see cref="AppendOutcome.Unknown"/>.</exception>
    ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default);

    /// <summary>For Tango's runtime, and for data that an object claims: as <see cref="AppendAsync"/>, to streams that
    /// are not raw. An entry that is not Tango's stops the objects of its streams.</summary>
    /// <exception cref="StreamRangeException">A stream is raw. Nothing was done.</exception>
    ValueTask<AppendResult> AppendToObjectsAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default);

    /// <summary>As <see cref="AppendToObjectsAsync"/>, for a player of <paramref name="followed"/>, which plays its own
    /// entry next.</summary>
    /// <param name="followed">Streams, among them those of the entry that the caller plays, without
    /// duplicates.</param>
    async ValueTask<FollowedAppend> AppendFollowedAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        ImmutableArray<StreamId> followed, CancellationToken cancellationToken = default) =>
        new(await AppendToObjectsAsync(payload, streams, cancellationToken), null);

    /// <summary>As <see cref="AppendFollowedAsync"/>, of an entry that declares what it reads and writes: the log
    /// decides its records as it grants the position. One attempt where a record is to be decided, since a ruling holds
    /// for its position only.</summary>
    /// <param name="largest">Bytes of the longest payload that may be made.</param>
    /// <param name="payload">Makes the payload for the ruling: without the records that are refused. Null is its
    /// argument where nothing was decided. Where it returns null, nothing is appended.</param>
    /// <exception cref="ArgumentException">The declaration is too large, or writes another stream. Nothing was
    /// done.</exception>
    async ValueTask<DecidedAppend> AppendDecidedAsync(ImmutableArray<StreamId> streams, Declaration declaration,
        int largest, Func<Ruling?, ReadOnlyMemory<byte>?> payload, ImmutableArray<StreamId> followed,
        CancellationToken cancellationToken = default) =>
        payload(null) is { } bytes
            ? new DecidedAppend(null, await AppendFollowedAsync(bytes, streams, followed, cancellationToken))
            : default;

    /// <summary>Finds the outcome of an append whose outcome was unknown. May be repeated. Never appends anew, and
    /// fills no position that was not granted.</summary>
    /// <returns>Appended, NotAppended (for good), or still Unknown.</returns>
    /// <exception cref="PositionNotGrantedException">The epoch of the position has not granted it, so no append has it.
    /// Without its epoch it counts as granted by one that has ended: NotAppended.</exception>
    ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken = default);

    /// <summary>Reads entries, results in request order. A hole below the tail is closed first when
    /// <paramref name="mode"/> says so: the head's value is completed, or junk is filled in once the writer has had its
    /// time.</summary>
    ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles, CancellationToken cancellationToken = default);

    /// <summary>The log's tail (exclusive: every acknowledged position is below it) and, atomically with it, the newest
    /// positions of the streams. Linearizable unless <see cref="ReadConsistency.Session"/> is asked for: at least what
    /// was acknowledged before the call began.</summary>
    ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default);

    /// <summary>Closes a hole: completes what the head holds, or fills it with junk, without waiting for its writer.
    /// Only granted positions.</summary>
    /// <returns>The value that the position holds afterwards.</returns>
    /// <exception cref="PositionNotGrantedException">The position is not granted.</exception>
    ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default);

    /// <summary>Releases one position below the tail. Its stream headers survive until a prefix trim passes it. A
    /// position with the epoch in which it was learnt releases no entry of a later epoch.</summary>
    /// <exception cref="PositionNotGrantedException">The position is not granted. A position without its epoch may have
    /// been: unused grants go with their epoch.</exception>
    ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default);

    /// <summary>Releases everything below <paramref name="below"/>, which is at most the tail. A tail of an ended epoch
    /// counts up to where the next epoch began.</summary>
    /// <exception cref="PositionNotGrantedException">The position is above the tail; see
    /// <see cref="TrimAsync"/>.</exception>
    ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default);
}

/// <param name="Position">The entry's position, with the epoch of the grant. With <see cref="AppendOutcome.Unknown"/>,
/// the position that was granted for it.</param>
/// <param name="Origin">The entry's writer and sequence: what <see cref="ICorfuLog.ResolveAsync"/> looks for.</param>
public readonly record struct AppendResult(AppendOutcome Outcome, LogPosition Position, EntryOrigin Origin)
{
    public bool IsAppended => Outcome == AppendOutcome.Appended;

    /// <summary>The entry's streams with their newest positions below it, as the grant of <see cref="Position"/> told
    /// them: what a read of the entry would answer. Default: this log does not tell; read the entry. They follow from
    /// the position, and do not count for equality.</summary>
    public ImmutableArray<StreamHeader> Headers { get; init; }

    public bool Equals(AppendResult other) =>
        (Outcome, Position, Origin) == (other.Outcome, other.Position, other.Origin);

    public override int GetHashCode() => HashCode.Combine(Outcome, Position, Origin);

    /// <summary>The position, or an exception for callers that treat the third outcome as an error.</summary>
    public LogPosition Require() => IsAppended ? Position : throw new AppendUnknownException(this);
}

/// <summary>The outcome of an append.</summary>
public enum AppendOutcome
{
    /// <summary>In the log, durable at every replica of its chain.</summary>
    Appended,

    /// <summary>Not resolved: it may be, or become, part of the log. No component retries it silently.</summary>
    Unknown,

    /// <summary>Never part of the log. Only <see cref="ICorfuLog.ResolveAsync"/> returns it: appends retry.</summary>
    NotAppended,
}

/// <summary>Thrown by <see cref="AppendResult.Require"/>.</summary>
public sealed class AppendUnknownException(AppendResult result)
    : CorfuException($"The outcome of the append at {result.Position} by {result.Origin} is unknown.")
{
    public AppendResult Result { get; } = result;
}

/// <summary>Terms that the caller of an append sets for its entry, on an <see cref="IDelegatedLog"/>.</summary>
/// <param name="Origin">Null: one of the client's own.</param>
/// <param name="Below">The entry stands below this position or nowhere. Null: anywhere.</param>
public readonly record struct AppendTerms(EntryOrigin? Origin, LogPosition? Below);

/// <summary>Treatment of an unwritten position by a read.</summary>
public enum ReadMode
{
    /// <summary>A hole below the tail is closed first; at or above the tail the answer is Unwritten.</summary>
    CloseHoles,

    /// <summary>Reads have no effect: a hole is answered as Unwritten.</summary>
    Observe,
}

/// <summary>How fresh a tail must be.</summary>
public enum ReadConsistency
{
    /// <summary>Confirmed with requests sent after the call began: no clocks, no leases.</summary>
    Linearizable,

    /// <summary>The sequencer's answer alone, which a replaced sequencer may give.</summary>
    Session,
}

/// <param name="Tail">Exclusive.</param>
/// <param name="Streams">In request order; positions newest first, at most <see cref="StreamHeader.MaxBackpointers"/>,
/// granted but perhaps not written. In a check of more streams than one request may name, some may lie
/// at or above <see cref="Tail"/>.</param>
public sealed record LogCheck(LogPosition Tail, ImmutableArray<StreamTail> Streams);

/// <summary>The result of a read. <see cref="Entry"/> is there for data and junk, and for a page trimmed on its own as
/// headers only (its tombstone).</summary>
public readonly record struct LogReadResult(LogPosition Position, PageState State, LogEntry? Entry)
{
    public bool IsData => State == PageState.Data;

    /// <summary>The result as a read with this detail returns it.</summary>
    public LogReadResult At(ReadDetail detail) => this with
    {
        Entry = detail switch
        {
            ReadDetail.State => null,
            ReadDetail.Full => Entry,
            _ => Entry is { } entry ? entry with { Payload = default } : null,
        },
    };
}
