using System.Buffers;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Writes;

/// <summary>
/// The order of a volume's writes over all connections. A write has its place before anything is read for it, and
/// writes leave for the volume in the order of their places (S25): a write of a part of a block that waits for the rest
/// of the block holds up all behind it. One thread at a time works on the line, whichever brings something. Any thread.
/// </summary>
internal sealed class WriteOrder(IVolume volume, RecentBlocks recent) : IThreadPoolWorkItem
{
    // A thread that works for others goes on with its own connection after so many writes.
    private const int Turn = 128;

    // Writes in the line that are compared with a partial one. Behind more, its read waits until it is the first.
    private const int Compared = 64;

    // Large enough to make calls few, and a whole batch of the volume.
    private const int ZeroChunk = 1 << 20;

    private static readonly byte[] s_zeros = new byte[ZeroChunk];

    private readonly Lock _gate = new();

    // Guarded by _gate: new writes, and writes whose blocks have been read. While _isWorking, a thread will see to it.
    private readonly Queue<PlacedWrite> _inbox = new();
    private bool _isWorking;

    // Touched by the working thread alone. All writes before the first one have left.
    private readonly Queue<PlacedWrite> _line = new();

    /// <summary>Gives a write its place, behind all that have one.</summary>
    public ValueTask PlaceAsync(PlacedWrite write)
    {
        var completion = write.Completion;
        Post(write);
        return completion;
    }

    void IThreadPoolWorkItem.Execute() => Work();

    private void Post(PlacedWrite write)
    {
        lock (_gate)
        {
            _inbox.Enqueue(write);
            if (_isWorking) return;
            _isWorking = true;
        }

        Work();
    }

    private void Work()
    {
        for (var turn = 0; turn < Turn; turn++)
        {
            PlacedWrite? next;
            lock (_gate)
            {
                if (!_inbox.TryDequeue(out next))
                {
                    _isWorking = false;
                    return;
                }
            }

            if (next.At == PlacedWrite.Stage.New) Enter(next);
            else next.At = PlacedWrite.Stage.Ready;
            Leave();
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    // A block that no write in the line changes is now as it will be when the write leaves, so it may be read at once.
    private void Enter(PlacedWrite write)
    {
        write.At = PlacedWrite.Stage.Ready;
        if (write.NeedsHead || write.NeedsTail)
        {
            write.At = PlacedWrite.Stage.Waiting;
            if (!IsTouched(write)) Complete(write);
        }

        _line.Enqueue(write);
    }

    private bool IsTouched(PlacedWrite write)
    {
        if (_line.Count > Compared) return true;
        foreach (var before in _line)
        {
            if (before.Touches(write)) return true;
        }

        return false;
    }

    private void Leave()
    {
        while (_line.TryPeek(out var first))
        {
            if (first.At == PlacedWrite.Stage.Waiting) Complete(first);
            if (first.At != PlacedWrite.Stage.Ready) return;
            _line.Dequeue();
            if (first.Failure is { } failure) first.Fail(failure);
            else Call(first);
        }
    }

    // Completes the blocks of which the write has a part.
    private void Complete(PlacedWrite write)
    {
        if (write.Head is { } head && recent.TryMerge(head.Block, head)) write.NeedsHead = false;
        if (write.Tail is { } tail && recent.TryMerge(tail.Block, tail)) write.NeedsTail = false;
        write.At = PlacedWrite.Stage.Ready;
        if (!write.NeedsHead && !write.NeedsTail) return;
        write.At = PlacedWrite.Stage.Reading;
        _ = ReadAsync(write);
    }

    private async Task ReadAsync(PlacedWrite write)
    {
        try
        {
            // Both reads take their place now.
            var head = write.NeedsHead ? ReadAsync(write.Head!.Value) : Task.CompletedTask;
            var tail = write.NeedsTail ? ReadAsync(write.Tail!.Value) : Task.CompletedTask;
            await Task.WhenAll(head, tail).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            // The write fails where it stands; those behind go on.
            write.Failure = e;
        }

        Post(write);
    }

    private async Task ReadAsync(Edge edge)
    {
        var block = ArrayPool<byte>.Shared.Rent(volume.BlockSize);
        try
        {
            var present = block.AsMemory(0, volume.BlockSize);
            await volume.ReadAsync(edge.Block, present, extents: null, CancellationToken.None).ConfigureAwait(false);
            edge.Merge(present.Span);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(block);
        }
    }

    private void Call(PlacedWrite write)
    {
        ValueTask call;
        try
        {
            call = write.Kind switch
            {
                WriteKind.Data => volume.WriteAsync(write.Range.First, write.Data, write.IsDurable),
                WriteKind.Flush => volume.FlushAsync(),
                WriteKind.Clear when write.Head is null && write.Tail is null =>
                    volume.ClearAsync(write.Range.First, write.Range.Blocks, write.IsDurable),
                _ => WriteZeros(write),
            };
        }
        catch (Exception e)
        {
            write.Fail(e);
            return;
        }

        Remember(write);
        write.Leave(call, recent);
    }

    // All calls are made before this returns, so that no other write comes between.
    private ValueTask WriteZeros(PlacedWrite write)
    {
        var calls = new List<Task>();
        if (write.Head is { } head) calls.Add(WriteAsync(write, head.Block, head.Target));
        var inside = write.Range.Inside();
        if (write.Kind == WriteKind.Clear)
        {
            if (inside.Blocks > 0) calls.Add(ClearAsync(write, inside));
        }
        else
        {
            var chunk = ZeroChunk / volume.BlockSize;
            for (var block = inside.First; block < inside.End; block += chunk)
            {
                var blocks = (int)Math.Min(chunk, inside.End - block);
                calls.Add(WriteAsync(write, block, s_zeros.AsMemory(0, blocks * volume.BlockSize)));
            }
        }

        if (write.Tail is { } tail) calls.Add(WriteAsync(write, tail.Block, tail.Target));
        return new ValueTask(Task.WhenAll(calls));
    }

    // A call that throws at once ends as its task, so that the write ends after all its calls.
    private async Task WriteAsync(PlacedWrite write, long block, ReadOnlyMemory<byte> data) =>
        await volume.WriteAsync(block, data, write.IsDurable).ConfigureAwait(false);

    private async Task ClearAsync(PlacedWrite write, BlockRange range) =>
        await volume.ClearAsync(range.First, range.Blocks, write.IsDurable).ConfigureAwait(false);

    private void Remember(PlacedWrite write)
    {
        if (write.Range.Blocks == 0) return;
        recent.Remove(write.Range.First, write.Range.Blocks);
        if (write.Head is { } head) recent.Put(head.Block, head.Target.Span);
        if (write.Tail is { } tail) recent.Put(tail.Block, tail.Target.Span);
    }
}
