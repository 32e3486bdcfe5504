namespace Salus;

internal sealed partial class VolumeDriver
{
    public async ValueTask ReadAsync(
        long firstBlock, Memory<byte> into, BlockExtents? extents, CancellationToken cancellationToken)
    {
        var count = BlocksIn(into.Length);
        CheckRange(firstBlock, count);
        cancellationToken.ThrowIfCancellationRequested();
        var begun = _ports.Time.GetTimestamp();
        var empty = extents is null ? null : new bool[count];
        List<ReadPiece> pieces;
        lock (_gate)
        {
            ThrowIfOver();
            pieces = Plan(firstBlock, count);
        }

        await ReadAsync(pieces, firstBlock, into, empty, cancellationToken);
        // Between the members' answers and now another writer may have taken over, with other members (S13).
        lock (_gate) ThrowIfLost();

        for (var i = 0; i < count && extents is not null; i++) extents.Add(1, empty![i]);
        SalusClientTelemetry.Read(_ports.Time.GetElapsedTime(begun), into.Length);
    }

    public async ValueTask DescribeAsync(
        long firstBlock, long blocks, int mostExtents, BlockExtents extents, CancellationToken cancellationToken)
    {
        CheckRange(firstBlock, blocks);
        Batch? newest = null;
        lock (_gate)
        {
            ThrowIfOver();
            foreach (var batch in _queue.All)
            {
                if (batch.Touches(firstBlock, firstBlock + blocks)) newest = batch;
            }
        }

        // A batch that a crash may still undo is waited for.
        if (newest is not null) await CommittedAsync(newest).WaitOrCancelAsync(cancellationToken);
        for (var block = firstBlock; block < firstBlock + blocks;)
        {
            var piece = PageOf(block, firstBlock + blocks - block);
            var leaves = await LeavesAsync(piece, cancellationToken);
            foreach (var leaf in leaves)
            {
                if (extents.Count == mostExtents && extents[extents.Count - 1].IsEmpty != leaf.IsEmpty) return;
                extents.Add(1, leaf.IsEmpty);
            }

            block += piece.Count;
        }
    }

    // Under the gate.
    private void ThrowIfLost()
    {
        if (_over is { } over) throw Again(over);
        if (!IsHeld) throw new VolumeException(VolumeFault.LeaseLost, "The lock of the volume has ended.");
    }

    // All pieces end before this does: none touches the memory afterwards.
    private async Task ReadAsync(List<ReadPiece> pieces, long first, Memory<byte> into, bool[]? empty,
        CancellationToken cancellationToken)
    {
        var reads = new Task[pieces.Count];
        for (var i = 0; i < reads.Length; i++)
        {
            var piece = pieces[i];
            var at = (int)(piece.First - first);
            reads[i] = ReadAsync(piece, into.Slice(at * BlockSize, piece.Count * BlockSize),
                empty is null ? default : empty.AsMemory(at, piece.Count), cancellationToken);
        }

        await Task.WhenAll(reads);
    }

    private async Task ReadAsync(
        ReadPiece piece, Memory<byte> into, Memory<bool> empty, CancellationToken cancellationToken)
    {
        var isRead = piece.Source is { } source
            ? await TryCopyAsync(piece, source, into, empty, cancellationToken)
            : await TryReadAsync(piece, into, empty, cancellationToken);
        if (isRead) return;
        // The blocks have changed since, or their batch is void: they are read as they are now.
        List<ReadPiece> pieces;
        lock (_gate)
        {
            ThrowIfLost();
            pieces = Plan(piece.First, piece.Count);
        }

        var again = empty.IsEmpty ? null : new bool[piece.Count];
        await ReadAsync(pieces, piece.First, into, again, cancellationToken);
        again?.CopyTo(empty);
    }

    // A batch that is not committed may be void after a crash: what is read must not be.
    private async Task<bool> TryCopyAsync(ReadPiece piece, Batch source, Memory<byte> into, Memory<bool> empty,
        CancellationToken cancellationToken)
    {
        if (!await WithinPatienceAsync(source.Ended).WaitOrCancelAsync(cancellationToken)) return false;
        var part = source.Find(piece.Range.Region);
        if (part is null) return false;
        for (var i = 0; i < piece.Count; i++)
        {
            var data = part.DataOf(piece.Range.First + i, BlockSize);
            var target = into.Span.Slice(i * BlockSize, BlockSize);
            if (data.IsEmpty) target.Clear();
            else data.Span.CopyTo(target);
            if (!empty.IsEmpty) empty.Span[i] = data.IsEmpty;
        }

        return true;
    }

    private async Task<bool> TryReadAsync(
        ReadPiece piece, Memory<byte> into, Memory<bool> empty, CancellationToken cancellationToken)
    {
        var leaves = piece.Leaves ?? await TryLoadLeavesAsync(piece, cancellationToken);
        if (leaves is null) return false;
        if (!await _reader.TryReadAsync(piece, leaves, into, () => HasChanged(piece), cancellationToken)) return false;
        for (var i = 0; i < empty.Length; i++) empty.Span[i] = leaves[i].IsEmpty;
        return true;
    }

    // Under the gate: where each block of a range comes from, as of now.
    private List<ReadPiece> Plan(long first, int count)
    {
        Batch?[]? sources = null;
        _queue.FindSources(first, count, ref sources);
        var pieces = new List<ReadPiece>(1);
        for (var at = 0; at < count;)
        {
            var source = sources?[at];
            var end = at + 1;
            while (end < count && sources?[end] == source) end++;
            while (at < end)
            {
                var range = _geometry.FirstPiece(first + at, end - at);
                var most = source is null ? MostOf(range) : range.Count;
                range = range with { Count = Math.Min(range.Count, most) };
                pieces.Add(PieceOf(first + at, source, range));
                at += range.Count;
            }
        }

        return pieces;
    }

    private ReadPiece PieceOf(long first, Batch? source, BlockRange range)
    {
        if (source is not null) return new ReadPiece(first, range.Count, source, range, default, null, default, 0);
        var link = _regions[range.Region];
        return new ReadPiece(first, range.Count, null, range,
            _tree.PageHash(range.Region, range.First / TreePage.Leaves),
            _tree.Leaves(range.Region, range.First, range.Count), PointOf(link), link.Last.Number);
    }

    private BatchPoint PointOf(RegionLink link) => new(link.Committed.Number, _proof);

    // An answer has blocks of one page, and at most as many bytes as a member gives.
    private int MostOf(BlockRange range) => Math.Min(
        TreePage.Leaves - (range.First % TreePage.Leaves), Math.Max(1, BatchLimits.MaxBytes / BlockSize));

    private ReadPiece PageOf(long block, long left)
    {
        var range = _geometry.FirstPiece(block, left);
        range = range with { Count = Math.Min(range.Count, TreePage.Leaves - (range.First % TreePage.Leaves)) };
        lock (_gate)
        {
            ThrowIfLost();
            return PieceOf(block, null, range);
        }
    }

    private bool HasChanged(ReadPiece piece)
    {
        lock (_gate) return _regions[piece.Range.Region].Last.Number != piece.Numbered || _phase != Phase.Writing;
    }

    private async Task<Hash128[]> LeavesAsync(ReadPiece piece, CancellationToken cancellationToken)
    {
        while (true)
        {
            if ((piece.Leaves ?? await TryLoadLeavesAsync(piece, cancellationToken)) is { } leaves) return leaves;
            piece = PageOf(piece.First, piece.Count);
        }
    }

    // Null: the page has changed since.
    private async Task<Hash128[]?> TryLoadLeavesAsync(ReadPiece piece, CancellationToken cancellationToken)
    {
        ImmutableArray<TreePage> leaves;
        try
        {
            leaves = await _pages.TryLoadAsync(piece.Range.Region, [(piece.Page, piece.PageHash)], piece.Point,
                () => HasChanged(piece), cancellationToken);
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            // The volume is lost here, and the question with it: the caller looks again, and hears why.
            return null;
        }

        if (leaves.IsEmpty) return null;
        lock (_gate) _tree.TryLoad(piece.Range.Region, piece.Page, leaves[0]);
        return leaves[0].LeafHashes.Slice(piece.Range.First % TreePage.Leaves, piece.Count).ToArray();
    }

    /// <summary>Loads pages that a batch is about to change. One batch at a time does, so none of them changes
    /// meanwhile.</summary>
    private async Task LoadAsync(HashSet<(int Region, int Page)> missing)
    {
        var loads = missing.GroupBy(static page => page.Region).SelectMany(static region =>
            region.Select(static page => page.Page).Order().Chunk(ReadTreeRequest.MaxPages)
                .Select(pages => (region.Key, pages))).ToList();
        await Task.WhenAll(loads.Select(load => LoadAsync(load.Key, load.pages)));
    }

    private async Task LoadAsync(int region, int[] pages)
    {
        ImmutableArray<(int, Hash128)> wanted;
        BatchPoint point;
        long numbered;
        lock (_gate)
        {
            wanted = [.. pages.Select(page => (page, _tree.PageHash(region, page)))];
            (point, numbered) = (PointOf(_regions[region]), _regions[region].Last.Number);
        }

        var leaves = await _pages.TryLoadAsync(region, wanted, point, HasChanged, _stop.Token);
        lock (_gate)
        {
            for (var i = 0; i < leaves.Length; i++) _tree.TryLoad(region, pages[i], leaves[i]);
        }

        bool HasChanged()
        {
            lock (_gate) return _regions[region].Last.Number != numbered || _phase != Phase.Writing;
        }
    }
}
