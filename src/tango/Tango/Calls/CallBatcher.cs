using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Records;

namespace Tango.Calls;

/// <summary>
/// Puts the records of concurrent callers into shared entries: sends at once when nothing is in flight, gathers while
/// something is. Each caller's outcome stays its own.
/// </summary>
/// <param name="declares">Whether entries tell the sequencer what they write.</param>
internal sealed class CallBatcher(ICorfuLog log, ulong runtime, TangoOptions options, Func<bool> declares,
    LoopContext loops, ILogger logger, CancellationToken lifetime)
{
    // Bytes that the writer asks for at once.
    private const int MinimumBuffer = 256;

    private readonly Lock _gate = new();
    private long _acknowledgedEnd;

    // The newest epoch whose sequencer has decided nothing that it was asked for: it never does.
    private long _undecided;

    // Guarded by _gate. Every call that waits is taken by a sending loop, of which there are _loops; one that is
    // withdrawn leaves.
    private readonly LinkedList<PendingCall> _waiting = [];
    private long _waitingBytes;
    private int _loops;
    private long _sequence;

    // Guarded by _gate. Entries of this runtime that playback has not met, by sequence: it may meet them before their
    // append returns. A post is null.
    private readonly Dictionary<long, PendingCall?[]> _unplayed = [];

    /// <summary>First position after everything that an append has returned for. Only playback answers a caller
    /// before.</summary>
    public LogPosition AcknowledgedEnd => new(Volatile.Read(ref _acknowledgedEnd));

    /// <summary>Most bytes of one record.</summary>
    public int MaxRecordBytes => log.MaxPayload - EntryFormat.MaxHeaderSize;

    /// <summary>Whether the epoch's sequencer is known not to decide.</summary>
    public bool IsUndecided(Epoch epoch) => epoch.Value <= Volatile.Read(ref _undecided);

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

    private void NoteUndecided(CallEntry entry)
    {
        lock (_gate)
        {
            foreach (var ask in entry.Calls.OfType<AskCall>())
                Volatile.Write(ref _undecided, Math.Max(_undecided, ask.Since.Epoch.Value));
        }
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
                Expect(sequence, batch);
            }

            try
            {
                TangoTelemetry.BatchRecords.Record(batch.Length);
                var entry = new CallEntry(batch);
                try
                {
                    await SendAsync(entry, sequence);
                }
                finally
                {
                    entry.TellRefused();
                }
            }
            catch (Exception)
            {
                // The program's logger. The callers have been told; without this loop no other one would be.
            }
        }
    }

    /// <summary>Under the lock: playback will meet the calls' entry.</summary>
    private void Expect(long sequence, PendingCall[] calls)
    {
        if (Array.Exists(calls, static call => call is { NeedsPlayback: true, IsPost: false }))
            _unplayed[sequence] = WithoutPosts(calls);
        else _unplayed.Remove(sequence);
    }

    private static PendingCall?[] WithoutPosts(PendingCall[] batch) =>
        Array.Exists(batch, static call => call.IsPost)
            ? Array.ConvertAll(batch, static call => call.IsPost ? null : call)
            : batch;

    private PendingCall[] TakeBatch()
    {
        var batch = new List<PendingCall>();
        var streams = 0;
        var asks = default(AskLimit);
        long bytes = EntryFormat.MaxHeaderSize;
        var maxBytes = Math.Min(options.MaxBatchBytes, log.MaxPayload);
        while (_waiting.First?.Value is { } call)
        {
            if (batch.Count > 0 && (batch.Count >= options.MaxBatchRecords || bytes + call.Record.Length > maxBytes
                || streams + call.Streams.Length > options.MaxBatchStreams
                || IsForDirectory(call) != IsForDirectory(batch[0]) || !asks.Fits(call))) break;
            Leave(call);
            if (!call.TryBecomeSent()) continue;
            batch.Add(call);
            asks.Add(call);
            bytes += call.Record.Length;
            if (batch.Count == 1 || !CallEntry.IsSameStreams(batch[^2], call)) streams += call.Streams.Length;
        }

        return [.. batch];
    }

    // R23: a record that older code cannot read stops all objects of its entry. It must not stop the directory.
    private static bool IsForDirectory(PendingCall call) => call.Streams.Contains(ObjectId.Directory.Stream);

    private async Task SendAsync(CallEntry entry, long sequence)
    {
        FollowedAppend? appended;
        Exception? unresolved;
        try
        {
            (appended, unresolved) = await AppendAsync(entry, sequence);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // By the log's contract nothing is in it.
            var reason = lifetime.IsCancellationRequested ? RuntimeLifetime.Ended() : e;
            Abandon(entry.Calls, sequence, call => call.BecomeFailed(reason));
            if (reason == e)
                logger.LogWarning(e, "The log refused an append of {Records} records", entry.Calls.Length);
            return;
        }
        catch (Exception e)
        {
            Abandon(entry.Calls, sequence, call => call.BecomeInDoubt(null, "The append failed", e));
            logger.LogError(
                e, "An append of {Records} records failed; their outcome is unknown", entry.Calls.Length);
            return;
        }

        if (appended is not var (result, placed)) return;
        var calls = entry.Calls;
        for (var i = 0; i < calls.Length; i++) calls[i].BecomePlaced(result, i);
        if (!result.IsAppended)
        {
            Abandon(calls, sequence,
                call => call.BecomeInDoubt(result.Position, "The append's outcome is unknown", unresolved));
            return;
        }

        // Before it is told: a caller that goes on finds the entry's playback under way, which needs no check.
        var playing = entry.Follower?.PlayToAsync(result.Position.Next, placed, CancellationToken.None);
        Acknowledge(result.Position.Next);
        for (var i = 0; i < calls.Length; i++) calls[i].BecomeAppended(new RecordVersion(result.Position, i));
        if (playing is { } played) loops.Start(() => AwaitPlaybackAsync(calls, sequence, result.Position, played));
    }

    /// <exception cref="Exception">Nothing is in the log.</exception>
    /// <returns>Not <see cref="AppendOutcome.NotAppended"/>; and why an unknown outcome could not be looked up. No
    /// result: every call has left the entry.</returns>
    private async ValueTask<(FollowedAppend? Result, Exception? Unresolved)> AppendAsync(
        CallEntry entry, long sequence)
    {
        while (entry.Calls.Length > 0)
        {
            lifetime.ThrowIfCancellationRequested();
            if (await AppendOnceAsync(entry, sequence) is not var (result, placed)) break;
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
            entry.LosePosition();
            // Playback finds the calls by their records, of which some may have left.
            lock (_gate) Expect(sequence, entry.Calls);
        }

        TryRemove(sequence);
        return default;
    }

    /// <returns>Null: every call has left the entry, and nothing is in the log.</returns>
    private async ValueTask<FollowedAppend?> AppendOnceAsync(CallEntry entry, long sequence)
    {
        var followed = entry.Follower?.Followed ?? [];
        if (!entry.HasAsks && (!declares() || Array.Exists(entry.Calls, static call => call is AskCall)))
            return await log.AppendFollowedAsync(Encode(entry.Calls, sequence), entry.Streams, followed, lifetime);
        var decided = await log.AppendDecidedAsync(
            entry.Streams, entry.Declare(), SizeOf(entry.Calls), Make, followed, lifetime);
        if (decided.Ruling is { IsGranted: false } refused) entry.Rule(refused);
        return decided.Append;

        ReadOnlyMemory<byte>? Make(Ruling? ruling)
        {
            if (ruling is null) NoteUndecided(entry);
            entry.Rule(ruling);
            if (entry.Calls.Length == 0) return null;
            // Before it is written: playback finds the calls by their records.
            lock (_gate) Expect(sequence, entry.Calls);
            return Encode(entry.Calls, sequence);
        }
    }

    /// <summary>The entry is in the log, so its fate is decided: what can fail is learning it, which is tried a bounded
    /// number of times.</summary>
    private async Task AwaitPlaybackAsync(
        PendingCall[] batch, long sequence, LogPosition position, ValueTask playing)
    {
        try
        {
            await playing;
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
        var buffer = new ArgumentBuffer(Math.Max(SizeOf(batch), MinimumBuffer));
        var writer = new MessagePackWriter(buffer);
        EntryFormat.WriteHeader(ref writer, runtime, sequence, batch.Length);
        foreach (var call in batch) writer.WriteRaw(call.Record.Span);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    private static int SizeOf(PendingCall[] batch) =>
        EntryFormat.MaxHeaderSize + batch.Sum(static call => call.Record.Length);
}
