using System.Buffers;
using System.IO.Pipelines;

namespace Corfu.Server;

/// <summary>Answers of any thread, coalesced in one buffer: those of one batch of requests leave with one flush, those
/// that come while the pipe is full follow when the peer has read.</summary>
internal sealed partial class ServerConnection
{
    /// <summary>Bytes of answers that wait for the end of their batch; beyond, they are flushed at once.</summary>
    private const int CorkLimit = 64 << 10;

    private readonly Lock _outputGate = new();

    // Guarded by _outputGate. While _flushing, the pipe belongs to the pending flush.
    private readonly FrameBuffer _waiting = new(4096);
    private bool _corked;
    private bool _flushing;
    private bool _closed;

    // Ended on this side; _closed alone means that the peer has gone.
    private bool _ended;
    private TaskCompletionSource? _room;
    private long _blockedSince;
    private int _inFlight;

    public void Send(uint correlation, Opcode opcode, Response response)
    {
        var overrun = false;
        lock (_outputGate)
        {
            Interlocked.Decrement(ref _inFlight);
            if (_closed) return;
            MessageCodec.WriteResponse(_waiting, correlation, opcode, response, _version);
            if (_flushing) overrun = _waiting.Length > _options.MaxOutputBuffer;
            else if (!_corked || _waiting.Length > CorkLimit) Flush();
            OfferRoom();
        }

        if (overrun) Drop("slow reader", "Its answers exceed the output buffer.");
    }

    private void Cork()
    {
        lock (_outputGate) _corked = true;
    }

    private void Uncork()
    {
        lock (_outputGate)
        {
            _corked = false;
            if (_waiting.Length > 0 && !_flushing && !_closed) Flush();
        }
    }

    /// <summary>Under the gate. Hands what waits to the socket's side of the pipe.</summary>
    private ValueTask<FlushResult> StartFlush()
    {
        _output.Write(_waiting.WrittenSpan);
        _waiting.Clear();
        return _output.FlushAsync();
    }

    /// <summary>Under the gate.</summary>
    private void Flush()
    {
        var flush = StartFlush();
        if (flush.IsCompletedSuccessfully)
        {
            if (flush.Result.IsCompleted) _closed = true;
            return;
        }

        _flushing = true;
        Volatile.Write(ref _blockedSince, _registry.Time.GetTimestamp());
        _ = FinishFlushAsync(flush);
    }

    private async Task FinishFlushAsync(ValueTask<FlushResult> flush)
    {
        try
        {
            while (true)
            {
                var result = await flush.ConfigureAwait(false);
                lock (_outputGate)
                {
                    if (result.IsCompleted) _closed = true;
                    if (_closed || _waiting.Length == 0)
                    {
                        _flushing = false;
                        Volatile.Write(ref _blockedSince, 0);
                        _waiting.Clear();
                        OfferRoom();
                        return;
                    }

                    Volatile.Write(ref _blockedSince, _registry.Time.GetTimestamp());
                    flush = StartFlush();
                    OfferRoom();
                }
            }
        }
        catch (Exception e)
        {
            Drop("connection lost", e.Message);
        }
    }

    /// <summary>Null when there is room for answers; else completes when there is again, or the connection has
    /// closed.</summary>
    private Task? WaitForRoom()
    {
        lock (_outputGate)
        {
            if (HasRoom()) return null;
            _room = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _room.Task;
        }
    }

    private void OfferRoom()
    {
        if (_room is null || !HasRoom()) return;
        _room.SetResult();
        _room = null;
    }

    private bool HasRoom() =>
        _closed || (_waiting.Length < _options.PauseReadingAt && Volatile.Read(ref _inFlight) < _options.MaxInFlight);

    /// <summary>No answer is written after this. True for the first caller.</summary>
    private bool CloseOutput()
    {
        lock (_outputGate)
        {
            var first = !_ended;
            _ended = true;
            _closed = true;
            OfferRoom();
            return first;
        }
    }
}
