using System.Buffers;

namespace Corfu.Server;

/// <summary>A connection's part in the limits of its identity: what it may have in flight, the memory of its large
/// frames, its rate, the answers that its peer does not take.</summary>
internal sealed partial class ServerConnection
{
    /// <summary>Requests that are handled in a row; then a commit begins, and other connections have their turn: the
    /// loop leaves its thread, which goes on with the next bytes of a busy connection without a pause.</summary>
    internal const int Turn = 256;

    /// <summary>A connection tells its identity of answers that wait when they have changed by so much.</summary>
    private const int ToldAnswers = 64 << 10;

    // Set by the handshake; read by any thread afterwards.
    private RequestShare? _share;

    // Requests that may be in flight, by the share: settled at the beginning of a batch, and anew while none is read.
    private int _limit = int.MaxValue;

    // Guarded by _outputGate: answers of which the share was not told, bytes of which the identity was told.
    private int _answered;
    private int _toldBytes;

    // The read loop's: requests that were handled since it last left its thread.
    private int _inTurn;

    // The read loop's: memory that is taken for the incomplete frame.
    private int _frameBytes;
    private volatile FrameBudget.Waiter? _frameWait;

    /// <summary>Null: there was no place, and the handshake says so. Set under the book's gate.</summary>
    public Identity? Identity { get; set; }

    /// <summary>TLS refused the peer: the connection lives for the answer that says why.</summary>
    public bool IsRefused => _tls?.Refusal is not null;

    /// <summary>Why the handshake is to refuse, when there is no place.</summary>
    public string? NoPlace { get; set; }

    /// <summary>The peer is at the address of a process of the cluster.</summary>
    public bool IsKnown => _registry.KnownAddresses.Has(_context);

    /// <summary>Bytes of answers that the peer has not taken; approximate.</summary>
    public int WaitingBytes => Volatile.Read(ref _toldBytes);

    /// <summary>The connection holds nothing from now on.</summary>
    public void Leave()
    {
        ReturnFrame();
        _registry.Book.Leave(this, _share);
    }

    public IRoleShare? Share => _share;

    private bool IsTurnOver(int handled)
    {
        if ((_inTurn += handled) < Turn) return false;
        _inTurn = 0;
        return true;
    }

    private void BeginBatch() => _limit = _share!.LimitOf(Volatile.Read(ref _inFlight), _options);

    private void EndBatch(int handled)
    {
        if (handled == 0) return;
        _share!.Add(handled);
    }

    /// <summary>Under the gate.</summary>
    private void TellAnswered()
    {
        if (_answered == 0) return;
        _share?.Add(-_answered);
        _answered = 0;
    }

    /// <summary>Under the gate. The connection to cut, when the identity's answers are too many.</summary>
    private CutOff? TellWaiting(int bytes)
    {
        var change = bytes - _toldBytes;
        if (change == 0 || (bytes != 0 && Math.Abs(change) < ToldAnswers)) return null;
        Volatile.Write(ref _toldBytes, bytes);
        return Identity is null ? null : _registry.Book.AddAnswerBytes(Identity, change);
    }

    /// <summary>Memory for the incomplete frame at the beginning of the buffer.</summary>
    /// <returns>Null: it is there, or the frame is small.</returns>
    private FrameBudget.Waiter? TakeFrame(in ReadOnlySequence<byte> buffer)
    {
        if (_frameBytes > 0 || buffer.Length < MessageCodec.HeaderSize) return null;
        Span<byte> bytes = stackalloc byte[MessageCodec.HeaderSize];
        buffer.Slice(0, MessageCodec.HeaderSize).CopyTo(bytes);
        var size = MessageCodec.HeaderSize + FrameHeader.Parse(bytes).BodyLength;
        if (size < FrameBudget.CountedFrom) return null;
        if (_registry.Frames.TryTake(Identity!, size))
        {
            _frameBytes = size;
            return null;
        }

        return _registry.Frames.Wait(Identity!, size);
    }

    /// <summary>False: the connection ended first.</summary>
    private async ValueTask<bool> WaitForFrameAsync(FrameBudget.Waiter waiter)
    {
        bool ended;
        lock (_outputGate)
        {
            // CloseOutput sets _ended under the gate: it finds the waiter, or the end is seen here.
            _frameWait = waiter;
            ended = _ended;
        }

        if (ended) _registry.Frames.Cancel(waiter);
        var granted = await waiter.Granted.ConfigureAwait(false);
        _frameWait = null;
        if (granted) _frameBytes = waiter.Bytes;
        return granted;
    }

    private void CancelFrameWait()
    {
        if (_frameWait is { } waiter) _registry.Frames.Cancel(waiter);
    }

    private void ReturnFrame()
    {
        if (_frameBytes == 0) return;
        _registry.Frames.Return(Identity!, _frameBytes);
        _frameBytes = 0;
    }

    /// <summary>How long the identity's rates let the connection wait before it is read again.</summary>
    private TimeSpan PauseAfter(int handled, long bytes)
    {
        if (_options is { MaxRequestsPerSecond: null, MaxBytesPerSecond: null } || Identity!.IsProvenNode)
            return TimeSpan.Zero;
        var requests = _options.MaxRequestsPerSecond is { } requestRate
            ? Identity.Requests.Take(handled, requestRate)
            : TimeSpan.Zero;
        var pause = _options.MaxBytesPerSecond is { } byteRate ? Identity.Bytes.Take(bytes, byteRate) : TimeSpan.Zero;
        return requests > pause ? requests : pause;
    }

    private async ValueTask PauseAsync(TimeSpan pause)
    {
        // The peer is not late while this side does not read.
        Volatile.Write(ref _partialSince, 0);
        await Task.Delay(pause, _registry.Time, _context.ConnectionClosed).ConfigureAwait(false);
    }
}
