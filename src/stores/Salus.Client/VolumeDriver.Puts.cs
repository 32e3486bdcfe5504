namespace Salus;

internal sealed partial class VolumeDriver
{
    // Space that a store needs for a record besides its blocks: head, certificate, a checkpoint's index.
    private const long RecordSpace = 64 << 10;

    public ValueTask WriteAsync(long firstBlock, ReadOnlyMemory<byte> data, bool durable)
    {
        CheckRange(firstBlock, BlocksIn(data.Length));
        var most = data.Length <= BatchLimits.MaxPayload ? data.Length : BatchLimits.MaxBytes;
        var pieces = new List<PlacedRequest>(1);
        for (var at = 0; at < data.Length; at += most)
        {
            var piece = data.Slice(at, Math.Min(most, data.Length - at));
            pieces.Add(Request(firstBlock + (at / BlockSize), piece.Length / BlockSize, piece, durable));
        }

        return PlaceAsync(pieces);
    }

    public ValueTask ClearAsync(long firstBlock, long blocks, bool durable)
    {
        CheckRange(firstBlock, blocks);
        // A region's part at a time: a batch then has no more regions than a report can name.
        var pieces = new List<PlacedRequest>(1);
        for (var block = firstBlock; block < firstBlock + blocks;)
        {
            var piece = _geometry.FirstPiece(block, firstBlock + blocks - block);
            pieces.Add(Request(block, piece.Count, default, durable));
            block += piece.Count;
        }

        return PlaceAsync(pieces);
    }

    public ValueTask FlushAsync()
    {
        Batch? newest;
        lock (_gate)
        {
            ThrowIfOver();
            newest = _queue.Newest;
            // An empty batch that still takes requests has none that the flush waits for.
            if (newest is null) return ValueTask.CompletedTask;
        }

        return new ValueTask(CommittedAsync(newest));
    }

    private PlacedRequest Request(long first, long count, ReadOnlyMemory<byte> data, bool durable) =>
        new(first, count, data, _options.Acknowledgement == Acknowledgement.Ordered && !durable,
            _ports.Time.GetTimestamp());

    private ValueTask PlaceAsync(List<PlacedRequest> pieces)
    {
        lock (_gate)
        {
            ThrowIfOver();
            ThrowIfFull(pieces);
            foreach (var piece in pieces) _queue.Place(piece);
        }

        SalusClientTelemetry.Placed(pieces.Sum(static piece => (long)piece.Data.Length));
        Pump();
        return new ValueTask(pieces is [var only] ? only.Ended : EndAsync(pieces));
    }

    // All pieces end before the call does: they use the caller's memory.
    private static async Task EndAsync(List<PlacedRequest> pieces)
    {
        VolumeException? failure = null;
        foreach (var piece in pieces)
        {
            try
            {
                await piece.Ended;
            }
            catch (VolumeException e)
            {
                failure ??= e;
            }
        }

        if (failure is not null) throw Again(failure);
    }

    // Before anything of the write has a number: a refusal later ends the run (S16). Clearing blocks frees space.
    private void ThrowIfFull(List<PlacedRequest> pieces)
    {
        foreach (var piece in pieces)
        {
            if (piece.Data.IsEmpty) continue;
            var needed = _queue.Bytes + piece.Data.Length + RecordSpace;
            for (var block = piece.First; block < piece.End;)
            {
                var part = _geometry.FirstPiece(block, piece.End - block);
                if (_regions[part.Region].Free < needed)
                {
                    _isFull = true;
                    throw new VolumeException(VolumeFault.OutOfSpace,
                        $"A store of region {part.Region} has no space left{Fullest(part.Region)}: make room on its "
                        + "disk, discard blocks, delete volumes or snapshots, or stop that node where another one can "
                        + "take its place.");
                }

                block += part.Count;
            }
        }
    }

    // As the nodes have told last.
    private string Fullest(int region)
    {
        var nodes = _ports.Log.State.Regions[region].Current.Members
            .Select(member => _ports.Log.Nodes.Find(member.Store)).OfType<BookedNode>();
        return nodes.MinBy(static node => node.Free) is { } full ? $" (least: {full.Store} at {full.Endpoint})" : "";
    }

    private async Task CommittedAsync(Batch batch)
    {
        if (!await WithinPatienceAsync(batch.Ended)) throw Again(batch.Failure!);
    }

    private async Task<T> WithinPatienceAsync<T>(Task<T> task)
    {
        if (task.IsCompleted) return await task;
        using var impatience = new CancellationTokenSource(_options.Patience, _ports.Time);
        try
        {
            return await task.WaitOrCancelAsync(impatience.Token);
        }
        catch (OperationCanceledException) when (impatience.IsCancellationRequested)
        {
            throw Unavailable();
        }
    }

    private VolumeException Unavailable()
    {
        RegionLack? lack;
        lock (_gate) lack = OldestLack();
        return new VolumeException(VolumeFault.Unavailable, lack is not null
            ? lack.Away.IsEmpty
                ? $"{lack.Sentence}. All its stores were read, and are read again."
                : $"{lack.Sentence}. Bring back store {string.Join(" or store ", lack.Away)}."
            : $"The stores of the volume did not answer for {_options.Patience.TotalSeconds:0} s: see 'corfu volume "
                + "status' for those that it needs.");
    }

    private void Pump()
    {
        lock (_gate)
        {
            if (_isPumping || _phase != Phase.Writing) return;
            _isPumping = true;
        }

        _ports.Loops.Start(PumpAsync);
    }

    // Numbers the batches, one after the other: their order is that of their requests (S25).
    private async Task PumpAsync()
    {
        while (true)
        {
            Batch? batch;
            lock (_gate)
            {
                batch = _phase == Phase.Writing ? _queue.Take() : null;
                if (batch is null)
                {
                    _isPumping = false;
                    return;
                }
            }

            try
            {
                await SendAsync(batch);
            }
            catch (Exception e) when (e is CorfuException or OperationCanceledException or ObjectDisposedException)
            {
                Drop(batch, e as VolumeException
                    ?? new VolumeException(VolumeFault.Unavailable, "The batch could not be numbered.", e));
            }
        }
    }

    // Nothing of the batch was numbered: those behind it go on.
    private void Drop(Batch batch, VolumeException why)
    {
        lock (_gate)
        {
            if (batch.IsEnded) return;
            batch.End(why);
            _queue.Drop(batch);
        }

        batch.Answer();
    }

    private async Task SendAsync(Batch batch)
    {
        var drafts = BatchDraft.Of(batch.Requests, _geometry, batch.Also);
        var missing = new HashSet<(int Region, int Page)>();
        while (true)
        {
            lock (_gate)
            {
                if (batch.IsEnded) return;
                batch.Stage = BatchStage.Copied;
                if (drafts.IsEmpty)
                {
                    // All requests were given up before.
                    batch.End(null);
                    _queue.Drop(batch);
                    break;
                }

                missing.Clear();
                foreach (var draft in drafts)
                    _tree.AddMissing(draft.Region, draft.Writes.AsSpan(), draft.Zeros.AsSpan(), missing);
                if (missing.Count == 0)
                {
                    Number(batch, drafts);
                    break;
                }
            }

            await LoadAsync(missing);
        }

        if (batch.Stage == BatchStage.Committed) batch.Answer();
        foreach (var request in batch.Requests)
        {
            if (request.IsEarly) request.Succeed();
        }

        foreach (var part in batch.Parts) Deliver(part);
    }

    // Under the gate.
    private void Number(Batch batch, ImmutableArray<PartDraft> drafts)
    {
        var number = _lastNumber + 1;
        var participants = ImmutableArray.CreateBuilder<Participant>(drafts.Length);
        foreach (var draft in drafts)
        {
            _tree.Apply(draft.Region, draft.Writes.AsSpan(), draft.Zeros.AsSpan());
            participants.Add(new Participant(
                draft.Region, _regions[draft.Region].Last.Number, _tree.RootOf(draft.Region)));
        }

        var header = new BatchHeader
        {
            Volume = Volume,
            Run = _run,
            Number = number,
            Driver = _signer.Incarnation,
            Participants = participants.MoveToImmutable(),
            Leader = BatchDraft.LeaderOf(drafts, _lastLeader),
            PreviousLeader = _lastLeader,
            VolumeRoot = _tree.Root,
            IsMarker = batch.IsMarker,
        };
        var signature = header.SignedBy(_signer);
        batch.Sent(header, signature, [.. drafts.Select(draft => draft.Number(batch, header, signature))],
            _ports.Time.GetTimestamp());
        foreach (var participant in header.Participants)
            _regions[participant.Region].Numbered(header.Name, participant.Root);
        (_lastNumber, _lastLeader) = (number, header.Leader);
        _queue.OnSent(batch);
        SalusClientTelemetry.BatchSize.Record(batch.Bytes);
    }
}
