using System.Buffers;
using Corfu.Simulation.Kernel;
using Corfu.ZooKeeper.Client;
using Corfu.ZooKeeper.Wire;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>A connection of a client: a handshake, requests whose replies come in their order, and events.</summary>
internal sealed class ZooLink
{
    private readonly ZooWatches _watches;
    private readonly ZooKeeperMonitor _monitor;
    private readonly ZooWire? _wire;
    private readonly Queue<Pending> _pending = [];
    private readonly TaskCompletionSource<ConnectResponse?> _greeting =
        new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly List<WatchPacket> _packets = [];
    private byte[] _bytes = [];
    private long _session;
    private long _writes;
    private int _xid;

    public ZooLink(ZooNetwork network, SimProcess process, ZooWatches watches, ZooKeeperMonitor monitor)
    {
        (_watches, _monitor) = (watches, monitor);
        _wire = network.Connect(process, Receive);
        IsOver = _wire is null;
    }

    /// <summary>Nothing comes any more.</summary>
    public bool IsOver { get; private set; }

    /// <summary>Zxid of the newest reply. Clients do not count events and pings.</summary>
    public long Seen { get; private set; }

    /// <returns>Null: the front end does not serve, or cannot be reached.</returns>
    public async Task<ConnectResponse?> ShakeHandsAsync(ConnectRequest request)
    {
        if (IsOver) return null;
        Seen = request.LastZxidSeen;
        using var writer = new JuteWriter();
        request.Write(writer);
        _wire!.Send(writer.Written.ToArray());
        return await _greeting.Task;
    }

    /// <returns>Null: the connection is over, and the request may have taken effect or not.</returns>
    public Task<ServerReply?> SendAsync(ClientRequest request)
    {
        if (IsOver) return Task.FromResult<ServerReply?>(null);
        int xid = request.Code switch
        {
            OpCode.Ping => RequestHead.PingXid,
            OpCode.SetWatches2 => RequestHead.SetWatchesXid,
            _ => ++_xid,
        };
        var pending = new Pending(xid, request, OpCodes.IsWrite(request.Code) ? ++_writes : 0);
        // The answer to a ping overtakes others, and has no waiter.
        if (xid == RequestHead.PingXid) pending.Reply.SetResult(null);
        else _pending.Enqueue(pending);
        using var writer = new JuteWriter();
        RequestWriter.Write(writer, xid, request);
        _wire!.Send(writer.Written.ToArray());
        return pending.Reply.Task;
    }

    /// <summary>Gives the connection up.</summary>
    /// <param name="tells">Whether the front end hears of it: else its packets are ignored.</param>
    public void Leave(bool tells)
    {
        if (IsOver) return;
        if (tells) _wire!.Send(null);
        End();
    }

    private void End()
    {
        IsOver = true;
        _greeting.TrySetResult(null);
        while (_pending.TryDequeue(out Pending? left)) left.Reply.TrySetResult(null);
    }

    private void Receive(byte[]? bytes)
    {
        if (IsOver) return;
        if (bytes is null)
        {
            End();
            return;
        }

        var input = new ReadOnlySequence<byte>((byte[])[.. _bytes, .. bytes]);
        while (!IsOver && Frames.Take(ref input, out var frame, int.MaxValue) == FrameState.Whole)
            Take(frame.ToArray());
        _bytes = input.ToArray();
    }

    private void Take(byte[] frame)
    {
        if (!_greeting.Task.IsCompleted)
        {
            ConnectResponse response = ConnectResponse.Read(frame)!;
            _session = _wire!.Session = response.Session;
            if (_session != 0) _monitor.Connected($"session {_session:x}", _packets);
            _greeting.SetResult(response);
            return;
        }

        var reader = new JuteReader(frame);
        if (!ReplyReader.TryReadHead(ref reader, out ReplyHead head))
            throw new InvalidOperationException("a reply has no head");
        if (head.Xid == RequestHead.EventXid)
        {
            ServerEvent told = ReplyReader.ReadEvent(head.Zxid, ref reader)!;
            _packets.Add(new EventPacket(told.Zxid, (NodeChangeKind)told.Kind, told.Path));
            _monitor.Mark("zookeeper watch heard");
            _watches.Hear(told);
            return;
        }

        if (head.Xid == RequestHead.PingXid)
        {
            _packets.Add(new ReplyPacket(head.Zxid));
            return;
        }

        Pending pending = _pending.Dequeue();
        if (head.Xid != pending.Xid)
            _monitor.Found(CheckerNames.ZooKeeperReply, $"{_session:x}: {head.Xid} is answered before {pending.Xid}");
        WatchAct? act = _watches.Hear(pending.Request, head.Error);
        if (act is SetsWatches) _monitor.Mark("zookeeper watches set again");
        _packets.Add(new ReplyPacket(head.Zxid, act));
        Seen = head.Zxid;
        if (pending.Number != 0)
            _monitor.Answered(new ZooAnswer(_session, pending.Number, pending.Request, head, frame));
        pending.Reply.SetResult(ReplyReader.ReadBody(pending.Request.Code, head, ref reader));
    }

    /// <param name="Number">Place of a write in the connection, from 1 on; else 0.</param>
    private sealed record Pending(int Xid, ClientRequest Request, long Number)
    {
        public TaskCompletionSource<ServerReply?> Reply { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}

/// <summary>Reply to a write.</summary>
/// <param name="Number">Place of the write in its connection, from 1 on.</param>
/// <param name="Frame">Behind its length.</param>
internal sealed record ZooAnswer(long Session, long Number, ClientRequest Request, ReplyHead Head, byte[] Frame);
