namespace Salus.Snapshots;

/// <summary>A snapshot, for reading: every block is verified by the roots that the log has of it. Needs no lock, since
/// no batch changes it.</summary>
internal sealed class SnapshotVolume : IVolume
{
    private readonly VolumePorts _ports;
    private readonly VolumeGeometry _geometry;
    private readonly ImmutableArray<CheckpointName> _checkpoints;
    private readonly PieceReader _reader;
    private readonly PageLoader _pages;
    private readonly CancellationTokenSource _closed;
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly VolumeTree _tree;
    private bool _isClosed;

    private SnapshotVolume(VolumePorts ports, MemberAsker asker, VolumeTree tree,
        ImmutableArray<CheckpointName> checkpoints, CancellationTokenSource closed)
    {
        (_ports, _tree, _checkpoints, _closed) = (ports, tree, checkpoints, closed);
        _geometry = ports.Log.State.Head.Geometry!;
        _reader = new PieceReader(asker, ports.Log.Volume, _geometry.BlockSize);
        _pages = new PageLoader(asker, ports.Loops, ports.Log.Volume, closed.Token);
    }

    public long Size => _geometry.Size;

    public int BlockSize => _geometry.BlockSize;

    public bool IsReadOnly => true;

    /// <summary>Waits for a snapshot that is still being taken, as long as the options' patience lasts.</summary>
    /// <exception cref="VolumeException">There is no such snapshot, not all regions have their checkpoints of it in
    /// time, or the checkpoints do not make its root.</exception>
    public static async Task<SnapshotVolume> MountAsync(
        VolumePorts ports, SalusClientOptions options, string name, CancellationToken cancellationToken)
    {
        var (state, snapshot) = await TakenAsync(ports, options, name, cancellationToken);
        if (snapshot.State != SnapshotState.Complete)
        {
            throw new VolumeException(VolumeFault.Unverifiable,
                $"The checkpoints of snapshot '{name}' do not make its root: delete it, and take another one.");
        }

        ImmutableArray<CheckpointName> checkpoints = [.. state.Regions.Values.Select(region =>
            region.Checkpoints.First(checkpoint => IsOf(checkpoint, snapshot.Marker)))];
        var asker = ports.Asker(options, static (_, _, _, _) => { });
        var trees = await RunOpener.ForRegionsAsync(checkpoints.Length, region => RegionTrees.LoadAsync(
            asker, state.Key(region), state.Head.Geometry!.PagesOf(region), checkpoints[region].Root,
            new BatchPoint(0, null, checkpoints[region].Number), cancellationToken));
        var tree = new VolumeTree(trees, options.TreeCache);
        return tree.Root == snapshot.VolumeRoot
            ? new SnapshotVolume(ports, asker, tree, checkpoints, new CancellationTokenSource())
            : throw new VolumeException(VolumeFault.Unverifiable,
                $"The checkpoints of snapshot '{name}' do not make its root: delete it, and take another one.");
    }

    public async ValueTask ReadAsync(
        long firstBlock, Memory<byte> into, BlockExtents? extents, CancellationToken cancellationToken)
    {
        if (into.Length == 0 || into.Length % BlockSize != 0)
            throw new ArgumentException($"{into.Length} bytes are no whole blocks of {BlockSize}.");
        CheckRange(firstBlock, into.Length / BlockSize);
        var reads = new List<Task<Hash128[]>>();
        for (var at = 0; at < into.Length;)
        {
            var piece = PieceAt(firstBlock + (at / BlockSize), (into.Length - at) / BlockSize, bounded: true);
            var bytes = piece.Count * BlockSize;
            reads.Add(ReadAsync(piece, into.Slice(at, bytes), cancellationToken));
            at += bytes;
        }

        foreach (var leaves in await Task.WhenAll(reads))
        {
            foreach (var leaf in leaves) extents?.Add(1, leaf.IsEmpty);
        }
    }

    public ValueTask WriteAsync(long firstBlock, ReadOnlyMemory<byte> data, bool durable) => throw ReadOnly();

    public ValueTask ClearAsync(long firstBlock, long blocks, bool durable) => throw ReadOnly();

    public ValueTask FlushAsync() => ValueTask.CompletedTask;

    public async ValueTask DescribeAsync(
        long firstBlock, long blocks, int mostExtents, BlockExtents extents, CancellationToken cancellationToken)
    {
        CheckRange(firstBlock, blocks);
        for (var block = firstBlock; block < firstBlock + blocks;)
        {
            var piece = PieceAt(block, firstBlock + blocks - block, bounded: false);
            foreach (var leaf in await LeavesAsync(piece, cancellationToken))
            {
                if (extents.Count == mostExtents && extents[extents.Count - 1].IsEmpty != leaf.IsEmpty) return;
                extents.Add(1, leaf.IsEmpty);
            }

            block += piece.Count;
        }
    }

    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            if (_isClosed) return;
            _isClosed = true;
        }

        _closed.Cancel();
        await _ports.Closed();
    }

    // The regions make their checkpoints of a snapshot after it is recorded.
    private static async Task<(VolumeState State, SnapshotEntry Snapshot)> TakenAsync(
        VolumePorts ports, SalusClientOptions options, string name, CancellationToken cancellationToken)
    {
        using var impatience = new CancellationTokenSource(options.Patience, ports.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, impatience.Token);
        try
        {
            var state = await ports.Log.RefreshAsync(either.Token);
            while (true)
            {
                var snapshot = state.Head.Snapshots.FirstOrDefault(known => known.Name == name)
                    ?? throw new VolumeException(VolumeFault.Unavailable, $"There is no snapshot '{name}' any more.");
                if (snapshot.State is not (SnapshotState.Wanted or SnapshotState.Cutting)) return (state, snapshot);
                state = await ports.Log.WaitAsync(state.Revision, either.Token);
            }
        }
        catch (OperationCanceledException) when (impatience.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            throw new VolumeException(VolumeFault.Unavailable,
                $"Snapshot '{name}' is still being taken: see 'corfu volume status' for regions that do not answer.");
        }
    }

    private static VolumeException ReadOnly() => new(VolumeFault.ReadOnly, "The volume is a snapshot.");

    private static bool IsOf(in CheckpointName checkpoint, in BatchName marker) =>
        checkpoint.Batch == marker.Number && checkpoint.Run == marker.Run;

    private void CheckRange(long first, long count)
    {
        if (first < 0 || count <= 0 || first > _geometry.Blocks - count)
        {
            throw new ArgumentOutOfRangeException(nameof(first),
                $"{count} blocks from {first} on: the volume has {_geometry.Blocks}.");
        }
    }

    private async Task<Hash128[]> ReadAsync(ReadPiece piece, Memory<byte> into, CancellationToken cancellationToken)
    {
        var leaves = await LeavesAsync(piece, cancellationToken);
        await _reader.TryReadAsync(piece, leaves, into, static () => false, cancellationToken);
        return leaves;
    }

    private async Task<Hash128[]> LeavesAsync(ReadPiece piece, CancellationToken cancellationToken)
    {
        if (piece.Leaves is { } there) return there;
        var region = piece.Range.Region;
        var leaves = await _pages.TryLoadAsync(
            region, [(piece.Page, piece.PageHash)], piece.Point, static () => false, cancellationToken);
        lock (_gate) _tree.TryLoad(region, piece.Page, leaves[0]);
        return leaves[0].LeafHashes.Slice(piece.Range.First % TreePage.Leaves, piece.Count).ToArray();
    }

    private ReadPiece PieceAt(long first, long left, bool bounded)
    {
        var range = _geometry.FirstPiece(first, left);
        var most = TreePage.Leaves - (range.First % TreePage.Leaves);
        if (bounded) most = Math.Min(most, BatchLimits.MaxBytes / BlockSize);
        range = range with { Count = Math.Min(range.Count, most) };
        var page = range.First / TreePage.Leaves;
        lock (_gate)
        {
            if (_isClosed) throw new VolumeException(VolumeFault.LeaseLost, "The snapshot is closed.");
            return new ReadPiece(first, range.Count, null, range, _tree.PageHash(range.Region, page),
                _tree.Leaves(range.Region, range.First, range.Count),
                new BatchPoint(0, null, _checkpoints[range.Region].Number), 0);
        }
    }
}
