using System.Threading.Tasks.Sources;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Writes;

internal enum WriteKind
{
    /// <summary>Bytes, in blocks that begin with the first one's.</summary>
    Data,

    /// <summary>Whole blocks become empty; edges are written.</summary>
    Clear,

    /// <summary>Whole blocks are written as zeros, so that they keep their space; edges are written.</summary>
    Zeros,

    /// <summary>Changes nothing, and ends when all before are durable.</summary>
    Flush,
}

/// <summary>
/// A change of a volume, in its place among the others. An object serves one write after the other: it is prepared,
/// placed, and awaited once.
/// </summary>
internal sealed class PlacedWrite : IValueTaskSource
{
    /// <summary>New: not in the line. Waiting: its edges' blocks cannot be read yet. Reading: they are being read.
    /// Ready: it leaves in its turn.</summary>
    internal enum Stage
    {
        New,
        Waiting,
        Reading,
        Ready,
    }

    private readonly Action _onLeft;
    private ManualResetValueTaskSourceCore<bool> _end;
    private ValueTask _left;
    private RecentBlocks? _recent;

    public PlacedWrite() => _onLeft = Finish;

    public WriteKind Kind { get; private set; }

    /// <summary>All blocks that the write changes, edges included.</summary>
    public BlockRange Range { get; private set; }

    public bool IsDurable { get; private set; }

    /// <summary>The blocks of a write of data, edges included.</summary>
    public ReadOnlyMemory<byte> Data { get; private set; }

    /// <summary>The first block if only a part of it is written, or that of a write within a block.</summary>
    public Edge? Head { get; private set; }

    /// <summary>The last block if only a part of it is written and it is not <see cref="Head"/>.</summary>
    public Edge? Tail { get; private set; }

    // The rest belongs to the WriteOrder.

    public Stage At { get; set; }

    /// <summary>Why the write cannot leave.</summary>
    public Exception? Failure { get; set; }

    public bool NeedsHead { get; set; }

    public bool NeedsTail { get; set; }

    /// <param name="blocks">The range's blocks; the bytes of the range are there, those around are not.</param>
    public void PrepareData(BlockRange range, Memory<byte> blocks, int blockSize, bool durable)
    {
        Prepare(WriteKind.Data, range, durable);
        Data = blocks;
        SetEdges(blocks, blocks[^blockSize..], blockSize);
    }

    /// <param name="edges">Two blocks of zeros, for edges; unused if there are none.</param>
    public void PrepareZeros(BlockRange range, Memory<byte> edges, int blockSize, bool keepsSpace, bool durable)
    {
        Prepare(keepsSpace ? WriteKind.Zeros : WriteKind.Clear, range, durable);
        if (range.Before > 0 || range.After > 0) SetEdges(edges, edges[blockSize..], blockSize);
    }

    /// <summary>As zeros, of whole blocks alone.</summary>
    public void PrepareClear(BlockRange whole, bool durable) => Prepare(WriteKind.Clear, whole, durable);

    public void PrepareFlush() => Prepare(WriteKind.Flush, default, durable: true);

    /// <summary>Ends with what the volume answers.</summary>
    public ValueTask Completion => new(this, _end.Version);

    /// <summary>The volume has been called.</summary>
    /// <param name="recent">Forgets its blocks if the call fails: what the write has left of them is unknown.</param>
    public void Leave(ValueTask call, RecentBlocks recent)
    {
        (_left, _recent) = (call, recent);
        var awaiter = call.GetAwaiter();
        if (awaiter.IsCompleted) Finish();
        else awaiter.UnsafeOnCompleted(_onLeft);
    }

    public void Fail(Exception error) => _end.SetException(error);

    /// <summary>Whether the write changes a block that the other one changes in part.</summary>
    public bool Touches(PlacedWrite other) =>
        (other.Head is { } head && Range.Has(head.Block)) || (other.Tail is { } tail && Range.Has(tail.Block));

    void IValueTaskSource.GetResult(short token) => _end.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _end.GetStatus(token);

    void IValueTaskSource.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _end.OnCompleted(continuation, state, token, flags);

    private void Prepare(WriteKind kind, BlockRange range, bool durable)
    {
        _end.Reset();
        (Kind, Range, IsDurable, Data) = (kind, range, durable, default);
        (Head, Tail, At, Failure) = (null, null, Stage.New, null);
        (NeedsHead, NeedsTail) = (false, false);
    }

    // Within one block, both ends are kept by one edge.
    private void SetEdges(Memory<byte> first, Memory<byte> last, int blockSize)
    {
        var isOne = Range.Blocks == 1;
        if (Range.Before > 0 || (isOne && Range.After > 0))
            Head = new Edge(Range.First, Range.Before, isOne ? Range.After : 0, first[..blockSize]);
        if (!isOne && Range.After > 0) Tail = new Edge(Range.End - 1, 0, Range.After, last[..blockSize]);
        (NeedsHead, NeedsTail) = (Head is not null, Tail is not null);
    }

    private void Finish()
    {
        var call = _left;
        _left = default;
        try
        {
            call.GetAwaiter().GetResult();
        }
        catch (Exception e)
        {
            _recent!.Clear();
            _end.SetException(e);
            return;
        }

        _end.SetResult(true);
    }
}
