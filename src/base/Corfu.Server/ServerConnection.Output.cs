using System.Buffers;
using System.Diagnostics;
using System.IO.Pipelines;
using System.Net.Security;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Server;

/// <summary>Answers of any thread collect in one buffer while the other is being sent: those of one batch of requests
/// leave with one flush, those that come while the pipe is full follow when the peer has read.</summary>
internal sealed partial class ServerConnection : IThreadPoolWorkItem
{
    /// <summary>Bytes of answers that wait for the end of their batch; beyond, they are flushed at once.</summary>
    private const int CorkLimit = 64 << 10;

    private const string SlowReader = "slow reader";

    /// <summary>Buffers that a caller's thread sends; further answers of others are sent by a thread of the
    /// pool.</summary>
    private const int MaxRounds = 8;

    /// <summary>How long the last answers of a connection that ends may take.</summary>
    private static readonly TimeSpan LastFlush = TimeSpan.FromSeconds(1);

    private readonly Lock _outputGate = new();

    // Guarded by _outputGate. _sending and the way to the socket belong to the one flush that runs while _flushing.
    private FrameBuffer _filling = new(4096);
    private FrameBuffer _sending = new(4096);
    private int _corks;
    private bool _flushing;
    private bool _closed;

    // Ended on this side; _closed alone means that the peer has gone.
    private bool _ended;
    private TaskCompletionSource? _room;
    private TaskCompletionSource? _flushEnded;
    private long _blockedSince;
    private int _inFlight;

    public void Send(uint correlation, Opcode opcode, Response response, long received)
    {
        if (received != 0 && ServerTelemetry.RequestTime.Enabled)
            RequestTimes.Record(_registry.Time.GetElapsedTime(received), _role, opcode, response.Status);
        Send(correlation, opcode, response);
    }

    public ActivityContext TraceOf(uint correlation) => _spans?.Of(correlation) ?? default;

    public void Send(uint correlation, Opcode opcode, Response response)
    {
        _spans?.End(correlation, response.Status);
        var overrun = false;
        var flush = false;
        CutOff? cut = null;
        lock (_outputGate)
        {
            Interlocked.Decrement(ref _inFlight);
            _answered++;
            if (_corks == 0 || _closed) TellAnswered();
            if (_closed) return;
            MessageCodec.WriteResponse(_filling, correlation, opcode, response, _version);
            if (_flushing)
            {
                var waiting = _filling.Length + _sending.Length;
                overrun = waiting > _options.MaxOutputBuffer;
                cut = TellWaiting(waiting);
            }
            else
            {
                flush = (_corks == 0 || _filling.Length > CorkLimit) && BeginFlush();
            }

            OfferRoom();
        }

        if (flush) Flush(apart: false);
        if (overrun) Drop(SlowReader, "Its answers exceed maxOutputBuffer.");
        else cut?.Connection.Drop(SlowReader, cut.Detail);
    }

    public void Cork()
    {
        lock (_outputGate) _corks++;
    }

    void IReplySink.Uncork(bool apart)
    {
        if (EndCork()) Flush(apart);
    }

    /// <summary>True: the caller has the flush. Corks of several threads may overlap without an end: each that ends
    /// lets out what is there.</summary>
    private bool EndCork()
    {
        lock (_outputGate)
        {
            _corks--;
            TellAnswered();
            return BeginFlush();
        }
    }

    /// <summary>For the thread of a role.</summary>
    private void Flush(bool apart)
    {
        // Encryption is not for the thread of a role. Answers that come until a thread of the pool runs join.
        if (_tls is null && !apart) Flush();
        else ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>Under the gate. True: the caller has the flush, and begins it outside the gate, since it may
    /// encrypt.</summary>
    private bool BeginFlush()
    {
        if (_flushing || _closed || _filling.Length == 0) return false;
        _flushing = true;
        (_filling, _sending) = (_sending, _filling);
        return true;
    }

    void IThreadPoolWorkItem.Execute() => Flush();

    /// <summary>Sends on the caller's thread until nothing waits or the peer is slow.</summary>
    private void Flush()
    {
        try
        {
            for (var round = 1; ; round++)
            {
                var write = WriteAsync();
                if (!write.IsCompletedSuccessfully)
                {
                    Volatile.Write(ref _blockedSince, _registry.Time.GetTimestamp());
                    _ = FinishFlushAsync(write);
                    return;
                }

                if (write.Result) LosePeer();
                if (!ContinueFlush()) return;
                if (round < MaxRounds) continue;
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                return;
            }
        }
        catch (Exception e)
        {
            FailFlush(e);
        }
    }

    private async Task FinishFlushAsync(ValueTask<bool> write)
    {
        try
        {
            while (true)
            {
                if (await write.ConfigureAwait(false)) LosePeer();
                if (!ContinueFlush()) return;
                Volatile.Write(ref _blockedSince, _registry.Time.GetTimestamp());
                write = WriteAsync();
            }
        }
        catch (Exception e)
        {
            FailFlush(e);
        }
    }

    /// <summary>Hands what is to be sent to the socket's side of the pipe. True: the peer has gone.</summary>
    private ValueTask<bool> WriteAsync()
    {
        ServerTelemetry.Io.Add(_sending.Length, ServerTelemetry.Sent);
        if (_tls is { } tls) return EncryptAsync(tls.Stream);
        _output.Write(_sending.WrittenSpan);
        var flush = _output.FlushAsync();
        return flush.IsCompletedSuccessfully ? new ValueTask<bool>(flush.Result.IsCompleted) : WaitAsync(flush);
    }

    private static async ValueTask<bool> WaitAsync(ValueTask<FlushResult> flush) =>
        (await flush.ConfigureAwait(false)).IsCompleted;

    /// <summary>Past the pipe of the encrypted stream, which would copy, and make a record of each of its
    /// segments.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<bool> EncryptAsync(SslStream stream)
    {
        await stream.WriteAsync(_sending.WrittenMemory).ConfigureAwait(false);
        return false;
    }

    /// <summary>False: all is sent, or the peer has gone, and another flush may begin.</summary>
    private bool ContinueFlush()
    {
        lock (_outputGate)
        {
            _sending.Clear();
            if (_closed || _filling.Length == 0)
            {
                EndFlush();
                return false;
            }

            (_filling, _sending) = (_sending, _filling);
            OfferRoom();
            return true;
        }
    }

    private void FailFlush(Exception e)
    {
        lock (_outputGate)
        {
            _closed = true;
            EndFlush();
        }

        Drop("connection lost", e.Message);
    }

    /// <summary>Under the gate.</summary>
    private void EndFlush()
    {
        _flushing = false;
        Volatile.Write(ref _blockedSince, 0);
        if (_closed) _filling.Clear();
        TellWaiting(0);
        OfferRoom();
        _flushEnded?.TrySetResult();
    }

    private void LosePeer()
    {
        lock (_outputGate) _closed = true;
    }

    /// <summary>Until no flush uses the pipe, which is completed next. A peer that takes nothing is cut off.</summary>
    private async ValueTask EndFlushAsync()
    {
        Task ended;
        lock (_outputGate)
        {
            if (!_flushing) return;
            _flushEnded = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            ended = _flushEnded.Task;
        }

        try
        {
            await ended.WaitAsync(LastFlush, _registry.Time).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            _context.Abort(new ConnectionAbortedException(SlowReader));
            await ended.ConfigureAwait(false);
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
        if (_room is null) return;
        BeginBatch();
        if (!HasRoom()) return;
        _room.SetResult();
        _room = null;
    }

    private bool HasRoom() =>
        _closed || (_filling.Length < _options.PauseReadingAt && Volatile.Read(ref _inFlight) < _limit);

    /// <summary>No answer is written after this. True for the first caller.</summary>
    private bool CloseOutput()
    {
        lock (_outputGate)
        {
            var first = !_ended;
            _ended = true;
            _closed = true;
            TellAnswered();
            TellWaiting(0);
            OfferRoom();
            CancelFrameWait();
            return first;
        }
    }
}
