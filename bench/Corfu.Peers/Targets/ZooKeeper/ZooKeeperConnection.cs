using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using Corfu.Load;

namespace Corfu.Peers;

/// <summary>
/// A ZooKeeper session on one connection, as little of it as the comparison needs: create, setData, getData, sync and
/// ping. Requests are pipelined; the server answers those of a session in order. No watches and no reconnection: the
/// end of the connection fails every request.
/// </summary>
internal sealed class ZooKeeperConnection : IAsyncDisposable
{
    private const int SessionTimeoutMilliseconds = 30_000;
    private const int MaxFrame = 1 << 20;

    /// <summary>Requests without an answer at most.</summary>
    private const int MaxPending = 4096;

    private const int ReplyHeader = sizeof(int) + sizeof(long) + sizeof(int);

    private readonly Socket _socket;
    private readonly PipeReader _answers;
    private readonly Lock _gate = new();
    private readonly Queue<ZooKeeperRequest> _pending = new();
    private readonly CancellationTokenSource _closing = new();
    private readonly Task _receiving;
    private readonly Task _pinging;

    // Requests gather in one buffer while the other one is sent.
    private ArrayBufferWriter<byte> _gathering = new();
    private ArrayBufferWriter<byte> _sending = new();
    private bool _isSending;
    private int _nextXid = 1;
    private Exception? _failure;

    private ZooKeeperConnection(Socket socket, PipeReader answers)
    {
        _socket = socket;
        _answers = answers;
        _receiving = ReceiveAsync();
        _pinging = PingAsync();
    }

    public static async Task<ZooKeeperConnection> ConnectAsync(int port, CancellationToken cancellationToken)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(IPAddress.Loopback, port, cancellationToken);
            var request = new ArrayBufferWriter<byte>();
            ZooKeeperRequest.WriteFrame(request, frame =>
            {
                frame.Int(0); // protocol version
                frame.Long(0); // last zxid seen
                frame.Int(SessionTimeoutMilliseconds);
                frame.Long(0); // a new session
                frame.Bytes(new byte[16]); // its password
                frame.Bool(false); // not read-only
            });
            await socket.SendAsync(request.WrittenMemory, SocketFlags.None, cancellationToken);
            var answers = PipeReader.Create(new NetworkStream(socket, ownsSocket: false));
            var (frame, end) = await ReadFrameAsync(answers, cancellationToken);
            if (frame.Length < 3 * sizeof(int)) throw new PeerException("ZooKeeper refused the session.");
            answers.AdvanceTo(end);
            return new ZooKeeperConnection(socket, answers);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    public async ValueTask CreateAsync(string path, byte[] data) =>
        await SendAsync(ZooKeeperRequest.Create, frame =>
        {
            frame.Text(path);
            frame.Bytes(data);
            frame.Int(1); // one access rule: everything, for everyone
            frame.Int(31);
            frame.Text("world");
            frame.Text("anyone");
            frame.Int(0); // persistent
        });

    /// <summary>Whatever version the node has.</summary>
    public async ValueTask SetDataAsync(string path, byte[] data) =>
        await SendAsync(ZooKeeperRequest.SetData, frame =>
        {
            frame.Text(path);
            frame.Bytes(data);
            frame.Int(-1);
        });

    public async ValueTask<byte[]> GetDataAsync(string path)
    {
        var body = await SendAsync(ZooKeeperRequest.GetData, frame =>
        {
            frame.Text(path);
            frame.Bool(false); // no watch
        });
        var length = BinaryPrimitives.ReadInt32BigEndian(body);
        return length <= 0 ? [] : body[sizeof(int)..(sizeof(int) + length)];
    }

    public async ValueTask SyncAsync(string path) =>
        await SendAsync(ZooKeeperRequest.Sync, frame => frame.Text(path));

    public async ValueTask DisposeAsync()
    {
        await _closing.CancelAsync();
        _socket.Dispose();
        await Task.WhenAll(_receiving, _pinging);
        await _answers.CompleteAsync();
        _closing.Dispose();
    }

    private Task<byte[]> SendAsync(int type, Action<IBufferWriter<byte>> body)
    {
        var request = new ZooKeeperRequest();
        lock (_gate)
        {
            if (_failure is not null) return Task.FromException<byte[]>(_failure);
            if (_pending.Count >= MaxPending)
                return Task.FromException<byte[]>(new PeerException($"{MaxPending} requests await answers already."));
            request.Xid = _nextXid++;
            _pending.Enqueue(request);
            Gather(request.Xid, type, body);
        }

        return request.Answer;
    }

    // Under the lock.
    private void Gather(int xid, int type, Action<IBufferWriter<byte>>? body)
    {
        ZooKeeperRequest.WriteFrame(_gathering, frame =>
        {
            frame.Int(xid);
            frame.Int(type);
            body?.Invoke(frame);
        });
        if (_isSending) return;
        _isSending = true;
        ThreadPool.UnsafeQueueUserWorkItem(static connection => _ = connection.FlushAsync(), this, preferLocal: true);
    }

    private async Task FlushAsync()
    {
        try
        {
            while (true)
            {
                lock (_gate)
                {
                    _sending.ResetWrittenCount();
                    if (_gathering.WrittenCount == 0)
                    {
                        _isSending = false;
                        return;
                    }

                    (_gathering, _sending) = (_sending, _gathering);
                }

                await _socket.SendAsync(_sending.WrittenMemory, SocketFlags.None);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            Fail(e);
        }
    }

    private async Task ReceiveAsync()
    {
        try
        {
            while (true)
            {
                var (frame, end) = await ReadFrameAsync(_answers, _closing.Token);
                Accept(frame.ToArray());
                _answers.AdvanceTo(end);
            }
        }
        catch (Exception e) when (e is IOException or SocketException or OperationCanceledException
            or ObjectDisposedException or PeerException)
        {
            Fail(e);
        }
    }

    private void Accept(byte[] frame)
    {
        if (frame.Length < ReplyHeader) throw new PeerException("ZooKeeper sent an answer without a header.");
        var xid = BinaryPrimitives.ReadInt32BigEndian(frame);
        if (xid < 0) return; // pings and events
        ZooKeeperRequest? request;
        lock (_gate) _pending.TryDequeue(out request);
        if (request?.Xid != xid) throw new PeerException($"ZooKeeper answered request {xid} out of order.");
        var error = BinaryPrimitives.ReadInt32BigEndian(frame.AsSpan(sizeof(int) + sizeof(long)));
        request.Complete(error, frame[ReplyHeader..]);
    }

    // A server ends a session that is silent for its time-out.
    private async Task PingAsync()
    {
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(SessionTimeoutMilliseconds / 3));
        try
        {
            while (await timer.WaitForNextTickAsync(_closing.Token))
            {
                lock (_gate) Gather(ZooKeeperRequest.PingXid, ZooKeeperRequest.Ping, null);
            }
        }
        catch (OperationCanceledException)
        {
            // Closed.
        }
    }

    private void Fail(Exception cause)
    {
        ZooKeeperRequest[] pending;
        lock (_gate)
        {
            _failure ??= cause as PeerException ?? new PeerException("The connection to ZooKeeper ended.", cause);
            pending = [.. _pending];
            _pending.Clear();
        }

        foreach (var request in pending) request.Fail(_failure);
    }

    private static async Task<(ReadOnlySequence<byte> Frame, SequencePosition End)> ReadFrameAsync(
        PipeReader reader, CancellationToken cancellationToken)
    {
        while (true)
        {
            var result = await reader.ReadAsync(cancellationToken);
            if (TryFrame(result.Buffer, out var frame)) return (frame, frame.End);
            if (result.IsCompleted) throw new IOException("ZooKeeper closed the connection.");
            reader.AdvanceTo(result.Buffer.Start, result.Buffer.End);
        }
    }

    private static bool TryFrame(ReadOnlySequence<byte> buffer, out ReadOnlySequence<byte> frame)
    {
        frame = default;
        var reader = new SequenceReader<byte>(buffer);
        if (!reader.TryReadBigEndian(out int length)) return false;
        if (length is < 0 or > MaxFrame) throw new PeerException($"ZooKeeper sent a frame of {length} bytes.");
        if (reader.Remaining < length) return false;
        frame = reader.UnreadSequence.Slice(0, length);
        return true;
    }
}
