using System.Collections.Immutable;

namespace Salus.NbdHost;

/// <summary>A volume in memory, whose calls a test holds up or lets fail. Any thread.</summary>
public sealed class MemoryVolume(long size, int blockSize = 4096) : IVolume
{
    private readonly Lock _gate = new();

    // Guarded by _gate. A block that is not there is empty.
    private readonly Dictionary<long, byte[]> _blocks = [];
    private readonly List<VolumeCall> _calls = [];
    private Task _commits = Task.CompletedTask;
    private bool _isDisposed;

    public long Size => size;

    public int BlockSize => blockSize;

    public bool IsReadOnly { get; init; }

    /// <summary>Writes are acknowledged when they have their places; flushes and durable writes wait.</summary>
    public bool AcknowledgesInOrder { get; init; }

    /// <summary>Refuses a call before anything of it is done.</summary>
    public Func<VolumeCall, VolumeException?>? Refuse { get; set; }

    /// <summary>A call that has its place ends after this: for a write, its commit.</summary>
    public Func<VolumeCall, Task?>? Hold { get; set; }

    /// <summary>All calls, in the order of their places.</summary>
    public ImmutableArray<VolumeCall> Calls
    {
        get
        {
            lock (_gate) return [.. _calls];
        }
    }

    public bool IsDisposed
    {
        get
        {
            lock (_gate) return _isDisposed;
        }
    }

    public int BlocksInUse
    {
        get
        {
            lock (_gate) return _blocks.Count;
        }
    }

    public ValueTask ReadAsync(
        long firstBlock, Memory<byte> into, BlockExtents? extents, CancellationToken cancellationToken)
    {
        var blocks = Blocks(into.Length);
        lock (_gate)
        {
            var call = Begin(VolumeVerb.Read, firstBlock, blocks);
            for (var i = 0; i < blocks; i++)
            {
                var block = into.Span.Slice(i * blockSize, blockSize);
                var isEmpty = !_blocks.TryGetValue(firstBlock + i, out var data);
                if (isEmpty) block.Clear();
                else data.CopyTo(block);
                extents?.Add(1, isEmpty);
            }

            return new ValueTask((Hold?.Invoke(call) ?? Task.CompletedTask).WaitAsync(cancellationToken));
        }
    }

    public ValueTask WriteAsync(long firstBlock, ReadOnlyMemory<byte> data, bool durable)
    {
        var blocks = Blocks(data.Length);
        lock (_gate)
        {
            var call = Begin(VolumeVerb.Write, firstBlock, blocks, durable);
            for (var i = 0; i < blocks; i++)
                _blocks[firstBlock + i] = data.Slice(i * blockSize, blockSize).ToArray();
            return Commit(call);
        }
    }

    public ValueTask ClearAsync(long firstBlock, long blocks, bool durable)
    {
        lock (_gate)
        {
            var call = Begin(VolumeVerb.Clear, firstBlock, blocks, durable);
            if (blocks < _blocks.Count)
            {
                for (var block = firstBlock; block < firstBlock + blocks; block++) _blocks.Remove(block);
            }
            else
            {
                foreach (var block in _blocks.Keys.Where(b => b >= firstBlock && b < firstBlock + blocks).ToArray())
                    _blocks.Remove(block);
            }

            return Commit(call);
        }
    }

    public ValueTask FlushAsync()
    {
        lock (_gate)
        {
            var call = Begin(VolumeVerb.Flush, 0, 0, durable: true);
            return new ValueTask(Task.WhenAll(_commits, Hold?.Invoke(call) ?? Task.CompletedTask));
        }
    }

    public ValueTask DescribeAsync(
        long firstBlock, long blocks, int mostExtents, BlockExtents extents, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            var call = Begin(VolumeVerb.Describe, firstBlock, blocks);
            for (var block = firstBlock; block < firstBlock + blocks; block++)
            {
                var isEmpty = !_blocks.ContainsKey(block);
                if (extents.Count == mostExtents && extents[extents.Count - 1].IsEmpty != isEmpty) break;
                extents.Add(1, isEmpty);
            }

            return new ValueTask((Hold?.Invoke(call) ?? Task.CompletedTask).WaitAsync(cancellationToken));
        }
    }

    public ValueTask DisposeAsync()
    {
        lock (_gate) _isDisposed = true;
        return ValueTask.CompletedTask;
    }

    // Under the gate: the call has its place.
    private VolumeCall Begin(VolumeVerb verb, long first, long blocks, bool durable = false)
    {
        var call = new VolumeCall(verb, first, blocks, durable);
        if (_isDisposed) throw new VolumeException(VolumeFault.LeaseLost, "The volume is closed.");
        if (first < 0 || blocks < 0 || first + blocks > size / blockSize)
            throw new ArgumentOutOfRangeException(nameof(first), $"{call} is outside the volume.");
        if (IsReadOnly && verb is VolumeVerb.Write or VolumeVerb.Clear)
            throw new VolumeException(VolumeFault.ReadOnly, "The volume is a snapshot.");
        if (Refuse?.Invoke(call) is { } refusal) throw refusal;
        _calls.Add(call);
        return call;
    }

    private ValueTask Commit(VolumeCall call)
    {
        var commit = Hold?.Invoke(call) ?? Task.CompletedTask;
        if (!commit.IsCompletedSuccessfully || !_commits.IsCompletedSuccessfully)
            _commits = Task.WhenAll(_commits, commit);
        return AcknowledgesInOrder && !call.Durable ? ValueTask.CompletedTask : new ValueTask(commit);
    }

    private int Blocks(int bytes) => bytes > 0 && bytes % blockSize == 0
        ? bytes / blockSize
        : throw new ArgumentException($"{bytes} bytes are no whole blocks.");
}
