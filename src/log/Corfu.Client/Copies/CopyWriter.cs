namespace Corfu.Client;

/// <summary>Writes what another log holds to the same positions of a mirror. All is idempotent, and any number of
/// copiers may work at once: a position has one value, the source's.</summary>
/// <remarks>Copies go down their chain by <c>Complete</c>, head first, as if the source were the replica before the
/// head: what the head holds is what the replicas behind it get, from any copier. Only the epoch in an entry is the
/// mirror's own, the epoch of the copy: an epoch means nothing outside of its cluster. No other client may write
/// or fill below a mirror's end (<see cref="Projection.MirrorOf"/>), so a copy may come late, also below the start of a
/// later epoch.</remarks>
public sealed class CopyWriter
{
    /// <summary>A copier writes at most this far above the lowest position that is not yet at all replicas. Positions
    /// that a crash of the copier leaves out therefore lie at most this far below the mirror's end.</summary>
    public const int MaxWindow = 4096;

    private readonly UnitCalls _units;
    private readonly SequencerClient _sequencer;
    private readonly Retry _retry;
    private readonly ChainReplication _chains;
    private readonly TrimMarks _marks;
    private readonly ClusterId _source;

    internal CopyWriter(UnitCalls units, SequencerClient sequencer, ChainReplication chains, TrimMarks marks,
        Retry retry, ClusterId source)
    {
        _units = units;
        _sequencer = sequencer;
        _retry = retry;
        _chains = chains;
        _marks = marks;
        _source = source;
    }

    /// <summary>Data or junk: durable at every replica of its chain when this returns. A position that the mirror has
    /// trimmed already is not written.</summary>
    /// <exception cref="LogDivergedException">Something else is there.</exception>
    /// <exception cref="CopyRefusedException">The log is no mirror of the source (any more).</exception>
    public ValueTask PutAsync(LogEntry entry, CancellationToken cancellationToken = default) =>
        RunAsync(
            $"Copying {entry.Position.Offset}", view => TryPutAsync(view, entry, cancellationToken), cancellationToken);

    /// <summary>Copies a trim of a single position. A tombstone keeps the stream headers.</summary>
    /// <param name="headers">The tombstone that the source has, if any.</param>
    public ValueTask PutTrimAsync(
        LogPosition position, LogEntry? headers, CancellationToken cancellationToken = default) =>
        RunAsync($"Trimming {position.Offset}", view => TryTrimAsync(view, position, headers, cancellationToken),
            cancellationToken);

    /// <summary>Everything below is trimmed. May lie above the mirror's tail, which then rises with it.</summary>
    public ValueTask PutTrimMarkAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        var mark = new LogPosition(below.Offset);
        return RunAsync($"Trimming below {mark}", view => _marks.PropagateAsync(view, mark, cancellationToken),
            cancellationToken);
    }

    /// <summary>Copies the stream tails that the source knows below its trim mark, once the mirror has the mark too.
    /// The units then know the streams as if they had seen the entries. Idempotent.</summary>
    public async ValueTask PutTrimmedStreamsAsync(
        ImmutableArray<StreamTail> tails, CancellationToken cancellationToken = default)
    {
        foreach (var some in tails.Chunk(MessageLimits.MaxItems))
            await RunAsync("Copying trimmed streams", view => TryPutStreamsAsync(view, some, cancellationToken),
                cancellationToken);
    }

    /// <summary>Lets the tail rise to <paramref name="to"/>, once everything below is at its replicas. Below the start
    /// of the mirror's epoch nothing is said: its sequencer waits for the advance that includes the start.</summary>
    /// <param name="from">Everything below was said before, or is trimmed.</param>
    /// <param name="entries">Data of streams between the two, ascending.</param>
    public ValueTask AdvanceAsync(LogPosition from, LogPosition to, ImmutableArray<AdvancedEntry> entries,
        CancellationToken cancellationToken = default) =>
        RunAsync($"Advancing to {to.Offset}", view => TryAdvanceAsync(view, from, to, entries, cancellationToken),
            cancellationToken);

    /// <summary>Completes what the head of the position's chain holds. False: it holds nothing.</summary>
    public ValueTask<bool> SettleAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        _retry.RunAsync($"Settling {position.Offset}", view => TrySettleAsync(view, position, cancellationToken),
            cancellationToken);

    private ValueTask RunAsync(
        string what, Func<EpochView, ValueTask<Status>> attempt, CancellationToken cancellationToken) =>
        _retry.RunAsync(
            what,
            view =>
            {
                RequireMirror(view);
                return attempt(view);
            },
            cancellationToken);

    private async ValueTask<Attempt<bool>> TrySettleAsync(
        EpochView view, LogPosition position, CancellationToken cancellationToken)
    {
        RequireMirror(view);
        var chain = view.Projection.ChainOf(position);
        var look = await _chains.LookAsync(view, chain, 0, position, ReadDetail.Full, cancellationToken);
        if (!look.IsDone) return look.Status;
        if (look.Value.State is not (PageState.Data or PageState.Junk)) return look.Value.State != PageState.Unwritten;
        var status = await _chains.CompleteAsync(view, chain, 0, look.Value.Bytes, cancellationToken);
        return status is Status.Ok or Status.Trimmed ? true : status;
    }

    private async ValueTask<Status> TryPutAsync(EpochView view, LogEntry entry, CancellationToken cancellationToken)
    {
        var position = new LogPosition(entry.Position.Offset, view.Epoch);
        var chain = view.Projection.ChainOf(position);
        ReadOnlyMemory<byte> bytes = EntryCodec.Encode(entry with { Position = position });
        var response = await _units.CallAsync(
            view, chain.Head, new CompleteRequest(view.Epoch, bytes), cancellationToken);
        switch (response.Status)
        {
            case Status.Ok:
                break;
            case Status.Trimmed:
                // The look propagates the trim.
                var look = await _chains.LookAsync(view, chain, 0, position, ReadDetail.Headers, cancellationToken);
                return look.IsDone ? Status.Ok : look.Status;
            case Status.AlreadyWritten:
                var stored = await StoredAsync(view, chain, entry, cancellationToken);
                if (!stored.IsDone) return stored.Status;
                if (stored.Value.IsEmpty) return Status.Ok;
                bytes = stored.Value;
                break;
            default:
                return response.Status;
        }

        var status = await _chains.CompleteAsync(view, chain, 0, bytes, cancellationToken);
        return status == Status.Trimmed ? Status.Ok : status;
    }

    // The entry that the head holds instead: the same one from an earlier attempt, perhaps of an earlier epoch, or a
    // divergence. Empty when trimmed meanwhile.
    private async ValueTask<Attempt<ReadOnlyMemory<byte>>> StoredAsync(
        EpochView view, Chain chain, LogEntry entry, CancellationToken cancellationToken)
    {
        var look = await _chains.LookAsync(view, chain, 0, entry.Position, ReadDetail.Full, cancellationToken);
        if (!look.IsDone) return look.Status;
        var page = PageDecoder.Decode(look.Value, ReadDetail.Full);
        if (page.State == PageState.Trimmed) return ReadOnlyMemory<byte>.Empty;
        if (page.Entry is not { } stored)
            throw new PageCorruptException($"Position {entry.Position.Offset} of the mirror, at unit {chain.Head}");
        if (stored.Origin != entry.Origin || stored.Kind != entry.Kind)
            throw new LogDivergedException(entry.Position, $"{Name(stored)} here, {Name(entry)} there");
        if (
            !stored.Streams.AsSpan().SequenceEqual(entry.Streams.AsSpan())
            || !stored.Payload.Span.SequenceEqual(entry.Payload.Span))
            throw new LogDivergedException(entry.Position, $"{Name(entry)} has another content here");
        return look.Value.Bytes;
    }

    private static string Name(LogEntry entry) => $"{(entry.IsJunk ? "junk" : "data")} of {entry.Origin}";

    private async ValueTask<Status> TryTrimAsync(
        EpochView view, LogPosition position, LogEntry? headers, CancellationToken cancellationToken)
    {
        var chain = view.Projection.ChainOf(position);
        ReadOnlyMemory<byte> tombstone = headers is null
            ? default
            : EntryCodec.Encode(
                headers with { Position = new LogPosition(position.Offset, view.Epoch), Payload = default });
        var page = new PageResult(position, PageState.Trimmed, false, headers?.Origin ?? default, tombstone);
        return await _chains.PropagateTrimAsync(view, chain, page, cancellationToken);
    }

    private async ValueTask<Status> TryPutStreamsAsync(
        EpochView view, StreamTail[] tails, CancellationToken cancellationToken)
    {
        // Each unit's share; a stream may stand in it once for each of the unit's chains.
        var shares =
            from tail in tails
            from positions in tail.Positions.GroupBy(view.Projection.ChainOf)
            from replica in positions.Key.Replicas
            group new StreamTail(tail.Stream, [.. positions]) by replica.Unit;
        foreach (var share in shares.OrderBy(s => s.Key))
        {
            foreach (var some in share.Chunk(MessageLimits.MaxItems))
            {
                var request = new ImportStreamTailsRequest(view.Epoch, [.. some]);
                var response = await _units.CallAsync(view, share.Key, request, cancellationToken);
                if (!response.IsOk) return response.Status;
            }
        }

        return Status.Ok;
    }

    private async ValueTask<Status> TryAdvanceAsync(EpochView view, LogPosition from, LogPosition to,
        ImmutableArray<AdvancedEntry> entries, CancellationToken cancellationToken)
    {
        var start = view.Projection.Start;
        if (to < start) return Status.Ok;

        // Entries below the start are in the units' frozen lists.
        var left = entries.RemoveAll(e => e.Position < start);
        do
        {
            var count = Fitting(left);
            var end = count < left.Length ? left[count].Position : to;
            var status = await _sequencer.AdvanceAsync(view, from, end, left[..count], cancellationToken);
            if (status != Status.Ok) return status;
            left = left[count..];
            from = end;
        }
        while (left.Length > 0);

        return Status.Ok;
    }

    // A request stays below every limit, and the streams that it may call unknown fit into one answer.
    private static int Fitting(ImmutableArray<AdvancedEntry> entries)
    {
        var streams = 0;
        for (var i = 0; i < entries.Length; i++)
        {
            streams += entries[i].Streams.Length;
            if (i > 0 && (streams > MessageLimits.MaxItems || i == MessageLimits.MaxItems)) return i;
        }

        return entries.Length;
    }

    private void RequireMirror(EpochView view)
    {
        var of = view.Projection.MirrorOf;
        if (of == _source) return;
        throw new CopyRefusedException(
            of.IsNone ? $"Cluster {view.Projection.Cluster} is no mirror, or was promoted."
            : of == view.Projection.Cluster ? $"Cluster {of} is being promoted."
            : $"Cluster {view.Projection.Cluster} is a mirror of {of}, not of {_source}.");
    }
}

/// <summary>The log is no mirror, a mirror of another cluster, or was promoted.</summary>
public sealed class CopyRefusedException(string message) : CorfuException(message);

/// <summary>A position of a mirror differs from its source. The mirror has to be made anew.</summary>
public sealed class LogDivergedException(LogPosition position, string what)
    : CorfuException($"The mirror differs from its source at {position.Offset}: {what}.")
{
    public LogPosition Position { get; } = position;
}
