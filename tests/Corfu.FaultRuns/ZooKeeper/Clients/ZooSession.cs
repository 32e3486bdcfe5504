using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;

namespace Corfu.FaultRuns.ZooKeeper.Clients;

/// <summary>
/// A session that moves between front ends, as a ZooKeeper client does: it leaves a server that is silent, goes on at
/// another by its id and password, and leaves its watches there again. Calls may overlap. Its history has all packets
/// in the order in which they came.
/// </summary>
internal sealed class ZooSession : IAsyncDisposable
{
    private static readonly TimeSpan s_connectLimit = TimeSpan.FromSeconds(2);

    private readonly ZooLife _life;
    private readonly IReadOnlyList<int> _ports;
    private readonly int _timeout;
    private readonly Random _random;
    private readonly Channel<Waiting> _calls = Channel.CreateUnbounded<Waiting>();
    private readonly Queue<(int Xid, Waiting Call)> _sent = new();
    private readonly WatchBook _watches = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _running;
    private CancellationTokenSource _connection = new();
    private Waiting? _unsent;
    private TimeSpan _silence;
    private byte[] _password = new byte[16];
    private long _session;
    private long _lastZxid;
    private long _lastOk;
    private int _xid;

    /// <param name="timeout">In ms.</param>
    public ZooSession(ZooLife life, IReadOnlyList<int> ports, int timeout, int seed)
    {
        (_life, _ports, _timeout, _random) = (life, ports, timeout, new Random(seed));
        _running = Task.Run(RunAsync);
    }

    /// <summary>The session has expired or was closed.</summary>
    public bool IsOver { get; private set; }

    public string Name => _life.Name;

    /// <summary>When the last call began that was answered.</summary>
    public long LastOk => Volatile.Read(ref _lastOk);

    /// <summary>Completes with the reply, or as <see cref="ZooEntry.Unknown"/> with the connection, or as
    /// <see cref="ZooEntry.NotSent"/> with the session.</summary>
    public Task<ZooEntry> SendAsync(ZooCall call)
    {
        var waiting = new Waiting(call, Stopwatch.GetTimestamp());
        if (!_calls.Writer.TryWrite(waiting)) waiting.End(ZooEntry.NotSent);
        return waiting.Reply.Task;
    }

    /// <summary>Breaks the connection, and comes back after a while.</summary>
    public void HangUp(TimeSpan silence)
    {
        _silence = silence;
        try
        {
            Volatile.Read(ref _connection).Cancel();
        }
        catch (ObjectDisposedException)
        {
            // The session is between two connections.
        }
    }

    /// <summary>Leaves without a word.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _running;
        _stop.Dispose();
    }

    private async Task RunAsync()
    {
        while (!IsOver && !_stop.IsCancellationRequested)
        {
            using var ended = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
            Volatile.Write(ref _connection, ended);
            try
            {
                await Task.Delay(_silence + TimeSpan.FromMilliseconds(_random.Next(20, 200)), _stop.Token);
                _silence = TimeSpan.Zero;
                await ConnectAsync(ended);
            }
            catch (Exception e) when (e is IOException or SocketException or OperationCanceledException)
            {
                // The server is away, or silent: another one may not be.
            }
            catch (InvalidDataException e)
            {
                _life.AddFault($"a malformed packet: {e.Message}");
            }

            while (_sent.TryDequeue(out var left)) Conclude(left.Call, ZooEntry.Unknown);
        }

        _calls.Writer.Complete();
        _unsent?.End(ZooEntry.NotSent);
        while (_calls.Reader.TryRead(out var waiting)) waiting.End(ZooEntry.NotSent);
    }

    private async Task ConnectAsync(CancellationTokenSource ended)
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using (var limit = CancellationTokenSource.CreateLinkedTokenSource(ended.Token))
        {
            limit.CancelAfter(s_connectLimit);
            await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, _ports[_random.Next(_ports.Count)]),
                limit.Token);
        }

        await using var stream = new NetworkStream(socket);
        await stream.WriteAsync(Packets.Connect(_lastZxid, _timeout, _session, _password), ended.Token);
        if (!Open(await ReadAsync(stream, ended.Token))) return;
        if (!_watches.IsEmpty) await stream.WriteAsync(Packets.SetWatches(_lastZxid, _watches), ended.Token);
        var sending = SendAsync(stream, ended);
        try
        {
            while (!IsOver) Take(await ReadAsync(stream, ended.Token));
        }
        finally
        {
            await ended.CancelAsync();
            await sending;
        }
    }

    private bool Open(byte[] frame)
    {
        var reader = new WireReader(frame);
        reader.Int();
        var (timeout, session, password) = (reader.Int(), reader.Long(), reader.Bytes());
        if (timeout <= 0)
        {
            Expire();
            return false;
        }

        if (_session != 0 && session != _session) _life.AddFault($"session {_session} came back as {session}");
        (_session, _password) = (session, password);
        return true;
    }

    private void Expire()
    {
        var now = Stopwatch.GetTimestamp();
        _life.Add(new ZooEntry(new ZooCall(ZooAct.Expired, "")) { Began = now, Ended = now });
        IsOver = true;
    }

    private async Task SendAsync(NetworkStream stream, CancellationTokenSource ended)
    {
        try
        {
            while (true)
            {
                _unsent ??= await NextAsync(ended.Token);
                if (_unsent is null)
                {
                    await stream.WriteAsync(Packets.Ping(), ended.Token);
                    continue;
                }

                // Sent, from here on: a part of it may arrive.
                var xid = ++_xid;
                lock (_sent) _sent.Enqueue((xid, _unsent));
                var frame = Packets.Request(xid, _unsent.Call);
                _unsent = null;
                await stream.WriteAsync(frame, ended.Token);
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or ObjectDisposedException)
        {
            await ended.CancelAsync();
        }
    }

    /// <returns>Null: it is time for a ping.</returns>
    private async Task<Waiting?> NextAsync(CancellationToken ended)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(ended);
        limit.CancelAfter(_timeout / 3);
        try
        {
            return await _calls.Reader.ReadAsync(limit.Token);
        }
        catch (OperationCanceledException) when (!ended.IsCancellationRequested)
        {
            return null;
        }
    }

    private async Task<byte[]> ReadAsync(NetworkStream stream, CancellationToken ended)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(ended);
        limit.CancelAfter(_timeout * 2 / 3);
        var head = new byte[sizeof(int)];
        await stream.ReadExactlyAsync(head, limit.Token);
        var frame = new byte[new WireReader(head).Int()];
        await stream.ReadExactlyAsync(frame, limit.Token);
        return frame;
    }

    private void Take(byte[] frame)
    {
        var reader = new WireReader(frame);
        var (xid, zxid, error) = (reader.Int(), reader.Long(), reader.Int());
        _lastZxid = Math.Max(_lastZxid, zxid);
        var now = Stopwatch.GetTimestamp();
        if (xid is Packets.PingXid or Packets.SetWatchesXid)
        {
            _life.Add(new ZooEntry(new ZooCall(ZooAct.Other, "")) { Ended = now, Zxid = zxid, Error = error });
            return;
        }

        if (xid == Packets.EventXid)
        {
            var kind = reader.Int();
            reader.Int();
            var told = new ZooEntry(new ZooCall(ZooAct.Event, reader.Text()))
            { Ended = now, Zxid = zxid, Kind = kind };
            _life.Add(told);
            _watches.Fire(told);
            return;
        }

        (int Xid, Waiting Call) head;
        lock (_sent)
        {
            if (!_sent.TryPeek(out head) || head.Xid != xid)
                throw new InvalidDataException($"a reply {xid} where {head.Xid} is due");
        }

        var entry = Packets.Read(new ZooEntry(head.Call.Call)
        { Began = head.Call.Began, Ended = now, Error = error, Zxid = zxid }, ref reader);
        lock (_sent) _sent.Dequeue();
        _life.Add(entry);
        _watches.Register(entry);
        Volatile.Write(ref _lastOk, Math.Max(_lastOk, entry.Began));
        if (error == ZooEntry.SessionExpired) Expire();
        else if (entry.Act == ZooAct.Close) IsOver = true;
        head.Call.Reply.TrySetResult(entry);
    }

    private void Conclude(Waiting waiting, int error)
    {
        var entry = new ZooEntry(waiting.Call)
        { Began = waiting.Began, Ended = Stopwatch.GetTimestamp(), Error = error };
        _life.Add(entry);
        waiting.Reply.TrySetResult(entry);
    }

    private sealed record Waiting(ZooCall Call, long Began)
    {
        public TaskCompletionSource<ZooEntry> Reply { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void End(int error) => Reply.TrySetResult(new ZooEntry(Call) { Began = Began, Error = error });
    }
}
