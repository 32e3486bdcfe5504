using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Records;

namespace Tango.Calls;

/// <summary>
/// Puts the records of concurrent callers into shared entries: sends at once when nothing is in flight, gathers while
/// something is. Each caller's outcome stays its own.
/// </summary>
internal sealed class CallBatcher(ICorfuLog log, ulong runtime, TangoOptions options, LoopContext loops, ILogger logger,
    CancellationToken lifetime)
{
    // Bytes that the writer asks for at once.
    private const int MinimumBuffer = 256;

    private readonly Lock _gate = new();
    private long _acknowledgedEnd;

    // Guarded by _gate. Every call that waits is taken by a sending loop, of which there are _loops; one that is
    // withdrawn leaves.
    private readonly LinkedList<PendingCall> _waiting = [];
    private long _waitingBytes;
    private int _loops;
    private long _sequence;

    // Guarded by _gate. Entries of this runtime that playback has not met, by sequence: it may meet them before their
    // append returns. A post is null.
    private readonly Dictionary<long, PendingCall?[]> _unplayed = [];

    /// <summary>First position after everything whose callers have been told that it is in the log.</summary>
    public LogPosition AcknowledgedEnd => new(Volatile.Read(ref _acknowledgedEnd));

    /// <summary>Most bytes of one record.</summary>
    public int MaxRecordBytes => log.MaxPayload - EntryFormat.MaxHeaderSize;

    /// <exception cref="TangoTooLargeException">The record does not fit into an entry.</exception>
    /// <exception cref="TangoBusyException">Too many calls are waiting, or too many bytes.</exception>
    public void Send(PendingCall call)
    {
        if (call.Record.Length > MaxRecordBytes)
            throw new TangoTooLargeException(call.Record.Length, MaxRecordBytes);
        lock (_gate)
        {
            RuntimeLifetime.ThrowIfEnded(lifetime);
            if (_waiting.Count >= options.MaxQueuedCalls) throw TangoBusyException.OfCalls(options.MaxQueuedCalls);
            if (_waiting.Count > 0 && _waitingBytes + call.Record.Length > options.MaxQueuedBytes)
                throw TangoBusyException.OfBytes(options.MaxQueuedBytes);
            call.Withdrawn = Leave;
            call.Waiting = _waiting.AddLast(call);
            _waitingBytes += call.Record.Length;
            if (_loops >= options.MaxAppendsInFlight) return;
            _loops++;
        }

        loops.Start(SendLoopAsync);
    }

    /// <summary>Sends a decision that no caller waits for (R20).</summary>
    /// <param name="failed">Called if the decision is not known to be in the log: it is left to other hosts.</param>
    public void SendDecision(DecidedCommit decided, Action failed)
    {
        try
        {
            Send(new DecisionCall(decided, failed));
        }
        catch (Exception e) when (e is TangoException or ObjectDisposedException)
        {
            failed();
            logger.LogWarning(
                e, "The decision about {Commit} could not be sent; it is left to other hosts", decided.Commit);
        }
    }

    /// <summary>Called by playback for every entry: whether this runtime wrote it, and the calls that still wait for
    /// it.</summary>
    public (bool IsOwn, PendingCall?[]? Calls) TakePlayed(EntryHeader header)
    {
        if (header.Runtime != runtime) return (false, null);
        lock (_gate) return (true, _unplayed.Remove(header.Sequence, out var calls) ? calls : null);
    }

    /// <summary>A number for <see cref="AreAnswered"/>.</summary>
    public long CountAccepted()
    {
        // Each waiting call is in an entry of its own at most.
        lock (_gate) return _sequence + _waiting.Count;
    }

    /// <summary>Whether all calls that need playback, and that had been accepted when they were counted, are answered,
    /// or were met by playback.</summary>
    public bool AreAnswered(long count)
    {
        lock (_gate)
            return (_waiting.Count == 0 || _sequence >= count) && _unplayed.Keys.All(sequence => sequence > count);
    }

    private void Leave(PendingCall call)
    {
        lock (_gate)
        {
            if (call.Waiting is not { } place) return;
            _waiting.Remove(place);
            _waitingBytes -= call.Record.Length;
            call.Waiting = null;
        }
    }

    private async Task SendLoopAsync()
    {
        while (true)
        {
            PendingCall[] batch;
            long sequence;
            lock (_gate)
            {
                batch = TakeBatch();
                if (batch.Length == 0)
                {
                    _loops--;
                    return;
                }

                sequence = ++_sequence;
                if (Array.Exists(batch, static call => call is { NeedsPlayback: true, IsPost: false }))
                    _unplayed.Add(sequence, WithoutPosts(batch));
            }

            try
            {
                TangoTelemetry.BatchRecords.Record(batch.Length);
                await SendAsync(batch, sequence);
            }
            catch (Exception)
            {
                // The program's logger. The callers have been told; without this loop no other one would be.
            }
        }
    }

    private static PendingCall?[] WithoutPosts(PendingCall[] batch) =>
        Array.Exists(batch, static call => call.IsPost)
            ? Array.ConvertAll(batch, static call => call.IsPost ? null : call)
            : batch;

    private PendingCall[] TakeBatch()
    {
        var batch = new List<PendingCall>();
        var streams = 0;
        long bytes = EntryFormat.MaxHeaderSize;
        var maxBytes = Math.Min(options.MaxBatchBytes, log.MaxPayload);
        while (_waiting.First?.Value is { } call)
        {
            if (batch.Count > 0 && (batch.Count >= options.MaxBatchRecords || bytes + call.Record.Length > maxBytes
                || streams + call.Streams.Length > options.MaxBatchStreams
                || IsForDirectory(call) != IsForDirectory(batch[0]))) break;
            Leave(call);
            if (!call.TryBecomeSent()) continue;
            batch.Add(call);
            bytes += call.Record.Length;
            if (batch.Count == 1 || !IsSameStreams(batch[^2], call)) streams += call.Streams.Length;
        }

        return [.. batch];
    }

    // R23: a record that older code cannot read stops all objects of its entry. It must not stop the directory.
    private static bool IsForDirectory(PendingCall call) => call.Streams.Contains(ObjectId.Directory.Stream);

    private static bool IsSameStreams(PendingCall a, PendingCall b) =>
        a.Streams.AsSpan().SequenceEqual(b.Streams.AsSpan());

    private async Task SendAsync(PendingCall[] batch, long sequence)
    {
        AppendResult result;
        AppendedEntry? placed;
        Exception? unresolved;
        var played = Array.Find(batch, static call => call.NeedsPlayback)?.Played;
        try
        {
            ((result, placed), unresolved) =
                await AppendAsync(Encode(batch, sequence), StreamsOf(batch), played?.Followed ?? []);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // By the log's contract nothing is in it.
            var reason = lifetime.IsCancellationRequested ? RuntimeLifetime.Ended() : e;
            Abandon(batch, sequence, call => call.BecomeFailed(reason));
            if (reason == e) logger.LogWarning(e, "The log refused an append of {Records} records", batch.Length);
            return;
        }
        catch (Exception e)
        {
            Abandon(batch, sequence, call => call.BecomeInDoubt(null, "The append failed", e));
            logger.LogError(e, "An append of {Records} records failed; their outcome is unknown", batch.Length);
            return;
        }

        for (var i = 0; i < batch.Length; i++) batch[i].BecomePlaced(result, i);
        if (!result.IsAppended)
        {
            Abandon(batch, sequence,
                call => call.BecomeInDoubt(result.Position, "The append's outcome is unknown", unresolved));
            return;
        }

        Acknowledge(result.Position.Next);
        for (var i = 0; i < batch.Length; i++) batch[i].BecomeAppended(new RecordVersion(result.Position, i));
        if (played is not null)
            loops.Start(() => AwaitPlaybackAsync(batch, sequence, (result.Position, placed), played));
    }

    /// <exception cref="Exception">Nothing is in the log.</exception>
    /// <returns>Not <see cref="AppendOutcome.NotAppended"/>; and why an unknown outcome could not be looked
    /// up.</returns>
    private async ValueTask<(FollowedAppend Result, Exception? Unresolved)> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, ImmutableArray<StreamId> followed)
    {
        while (true)
        {
            lifetime.ThrowIfCancellationRequested();
            var (result, placed) = await log.AppendFollowedAsync(payload, streams, followed, lifetime);
            try
            {
                for (var attempt = 0; result.Outcome == AppendOutcome.Unknown && attempt < options.MaxResolveAttempts;
                    attempt++)
                    result = result with { Outcome = await log.ResolveAsync(result, lifetime) };
            }
            catch (Exception e)
            {
                return (new FollowedAppend(result, null), e);
            }

            // R9: NotAppended is final, so that sending the records again cannot double them.
            if (result.Outcome != AppendOutcome.NotAppended) return (new FollowedAppend(result, placed), null);
        }
    }

    /// <summary>The entry is in the log, so its fate is decided: what can fail is learning it, which is tried a bounded
    /// number of times.</summary>
    private async Task AwaitPlaybackAsync(PendingCall[] batch, long sequence,
        (LogPosition Position, AppendedEntry? Placed) entry, IPlayedEntries played)
    {
        var position = entry.Position;
        try
        {
            await played.PlayToAsync(position.Next, entry.Placed, CancellationToken.None);
            // R22: playback of the entry takes its callers; a cohort that was reloaded from above it does not.
            if (TryRemove(sequence))
                Array.ForEach(batch, call => call.BecomeInDoubt(
                    position, "The record is in the log, but history was trimmed before it was played", null));
        }
        catch (Exception e)
        {
            Abandon(batch, sequence,
                call => call.BecomeInDoubt(position, "The record is in the log, but playing it failed", e));
        }
    }

    private void Acknowledge(LogPosition end)
    {
        lock (_gate) Volatile.Write(ref _acknowledgedEnd, Math.Max(_acknowledgedEnd, end.Offset));
    }

    private void Abandon(PendingCall[] batch, long sequence, Action<PendingCall> report)
    {
        TryRemove(sequence);
        Array.ForEach(batch, report);
    }

    private bool TryRemove(long sequence)
    {
        lock (_gate) return _unplayed.Remove(sequence);
    }

    private ReadOnlyMemory<byte> Encode(PendingCall[] batch, long sequence)
    {
        var size = EntryFormat.MaxHeaderSize + batch.Sum(static call => call.Record.Length);
        var buffer = new ArgumentBuffer(Math.Max(size, MinimumBuffer));
        var writer = new MessagePackWriter(buffer);
        EntryFormat.WriteHeader(ref writer, runtime, sequence, batch.Length);
        foreach (var call in batch) writer.WriteRaw(call.Record.Span);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    private static ImmutableArray<StreamId> StreamsOf(PendingCall[] batch)
    {
        var first = batch[0].Streams;
        if (Array.TrueForAll(batch, call => IsSameStreams(batch[0], call))) return first;
        var all = new SortedSet<StreamId>();
        foreach (var call in batch) all.UnionWith(call.Streams);
        return [.. all];
    }
}
