using System.Net;
using Corfu.ZooKeeper.Auth;
using Corfu.ZooKeeper.Serving;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Connections;

/// <summary>
/// A client's connection: its session, its requests in order, its packets. All members but those of the socket are
/// guarded by the front end's gate.
/// </summary>
/// <remarks>
/// Replies leave in the order of the requests. A write is posted when it comes, unless a request that awaits a check
/// stands before it; a read runs on the root behind the last write before it (Z3).
/// </remarks>
internal sealed partial class ZooConnection : IPostSink
{
    private readonly FrontEndServices _services;
    private readonly EndPoint? _peer;
    private readonly LinkedList<QueuedRequest> _queue = [];
    private readonly ConnectionOutput _output;
    private ImmutableArray<AuthId> _ids;
    private TaskCompletionSource? _room;
    private long _queuedBytes;
    private long _partialBytes;
    private long _lastZxid;
    private long _writes;
    private long _received;

    // Number of the newest request, and of the newest one that came before the check under way began. Never reset: a
    // check answers no request that came behind its beginning.
    private long _arrived;
    private long _checkingThrough;
    private long _sent;
    private int _attachment;

    // Set once, by the handshake: the session is this connection's alone, and no request reaches the log.
    private bool _isReadOnly;
    private int _unchecked;
    private int _posted;
    private bool _wasHeard = true;
    private bool _isChecking;
    private bool _isLast;
    private bool _isClosed;
    private bool _isAborted;

    public ZooConnection(FrontEndServices services, EndPoint? peer)
    {
        (_services, _peer) = (services, peer);
        _output = new ConnectionOutput(services.Dispatcher.Gate, Recount);
        _ids = Credentials.OfAddress(peer);
    }

    /// <summary>0: the handshake is not over.</summary>
    public long Session { get; private set; }

    public FourLetter.ConnectionFacts Facts =>
        new(_peer ?? new IPEndPoint(IPAddress.None, 0), _received, _sent, _queue.Count);

    /// <summary>Bytes of the requests without a reply, and of one that has not come whole.</summary>
    public long InputBytes { get; private set; }

    /// <summary>Bytes of the packets that the client has not taken.</summary>
    public long OutputBytes { get; private set; }

    public long HeldBytes => InputBytes + OutputBytes;

    public void ResetFacts() => (_received, _sent) = (0, 0);

    public IPAddress Address => (_peer as IPEndPoint)?.Address ?? IPAddress.None;

    private string Peer => _peer?.ToString() ?? "a client";

    private Dispatcher Dispatcher => _services.Dispatcher;

    private bool HasRoom => _queue.Count < ConnectionLimits.Requests && _queuedBytes < ConnectionLimits.InputBytes
        && Dispatcher.Connections.HasRoom;

    /// <summary>Whether a packet has come since the last call. A connection that is not read counts as
    /// active.</summary>
    public bool TakeHeard()
    {
        var heard = _wasHeard || _room is not null;
        _wasHeard = false;
        return heard;
    }

    /// <summary>Lets the socket be read again, if there is room for a request.</summary>
    /// <returns>True: it is read, or has ended.</returns>
    public bool TakeRoom()
    {
        if (_isClosed) return true;
        if (!HasRoom) return false;
        _room!.TrySetResult();
        _room = null;
        return true;
    }

    /// <summary>Ends the connection behind the packets that are queued, and takes back the writes that are not sent.
    /// The session goes on.</summary>
    public void Close()
    {
        foreach (var queued in _queue) queued.Post.TryWithdraw();
        _queue.Clear();
        _queuedBytes = 0;
        Recount();
        End();
    }

    // The client has gone. As in ZooKeeper, writes that have come take effect: a client may not wait for the reply to
    // the end of its session. They stay in the queue, where Close finds them.
    private void Leave()
    {
        foreach (var queued in _queue.ToArray())
        {
            // A multi across partitions that has not begun, and the writes behind it: a prefix takes effect.
            if (queued is { IsBarrier: true, Head.Code: not OpCode.CloseSession }) break;
            if (queued.IsBarrier) BeginBarrier(queued);
            else TryPost(queued);
        }

        End();
    }

    private void End()
    {
        if (_isClosed) return;
        _isClosed = true;
        Dispatcher.Watches.RemoveAll(this);
        Dispatcher.Connections.Remove(this);
        Dispatcher.Connections.Writes -= _posted;
        _room?.TrySetResult();
        _output.End();
        _input?.CancelPendingRead();
    }

    /// <summary>Queues a notification, if the client may hear of it.</summary>
    public void Tell(in TreeChange change, long zxid)
    {
        if (_isClosed) return;
        // Z20: a client without rights learns of no nodes.
        if (!AclRules.IsPermitted(change.Acl, Permissions.Read, _ids) && !Planted.Is("event-without-read")) return;
        ReplyWriter.WriteEvent(_output.Pending, Advance(zxid), change.Kind, change.Path);
        FrontEndTelemetry.Notified.Add(1);
        Send();
    }

    /// <summary>A write of the session is applied, and its root is the newest.</summary>
    public void OnEffect(RequestHeader caller, TreeEffect effect)
    {
        // An older connection's write has no effect (Z7), and no reply here.
        if (caller.Attachment != _attachment || _isClosed) return;
        // Whatever stands before the write was answered with the write before it.
        if (_queue.First?.Value is not { Number: not 0 } head || head.Number != caller.Number)
        {
            Abort(CloseReason.Order, "its writes came back in another order");
            return;
        }

        var result = effect.Result;
        if (result is PartResult part && (result = head.Gather(part)) is null) return;
        Dequeue();
        // Z7: the client is connected elsewhere, and learns nothing here.
        if (result.Error == ZooKeeperError.SessionMoved) Close();
        else Reply(head, effect.Zxid, result);
    }

    private void Reply(QueuedRequest write, long zxid, TreeResult result)
    {
        ReplyWriter.Write(_output.Pending, write.Head.Xid, Advance(zxid), write.Request!, result);
        Count(write, (ErrorCode)result.Error);
        Send();
        if (result.Error == ZooKeeperError.SessionExpired || write.Head.Code == OpCode.CloseSession) Close();
        else RunQueue();
        if (write.IsBarrier) PostWrites();
    }

    /// <summary>A check begins: what was answered anywhere before the requests so far came is below.</summary>
    /// <returns>Mounts of partitions that are to be played before.</returns>
    public IEnumerable<string> OnChecking()
    {
        _checkingThrough = _arrived;
        return _queue.SelectMany(static queued => queued.Missing);
    }

    /// <summary>The check is played.</summary>
    public void OnSynced()
    {
        _isChecking = false;
        if (_isClosed || !Dispatcher.MayAnswer()) return;
        foreach (var queued in _queue.Where(queued => queued.AwaitsCheck && queued.Order <= _checkingThrough))
        {
            // The root partition would tell nodes of a partition that is not played as missing.
            if (queued.Missing.Any(mount => Dispatcher.RootOf(mount) is null))
            {
                Note(CloseReason.Log, "a partition is not played yet");
                Close();
                return;
            }

            queued.AwaitsCheck = false;
            if (!queued.HoldsWrites) _unchecked--;
        }

        // Replies first: a write that is refused ends the connection.
        RunQueue();
        PostWrites();
    }

    void IPostSink.OnAppended(RecordVersion version)
    {
        // The reply comes with the record's effect.
    }

    // Z6: never guessed. The client sees a broken connection, and does not know either.
    void IPostSink.OnInDoubt(TangoInDoubtException reason) => OnLost(reason);

    void IPostSink.OnFailed(Exception reason) => OnLost(reason);

    private void OnLost(Exception reason)
    {
        lock (Dispatcher.Gate)
        {
            // A batch that fails has one line for all writes of a client.
            if (!_isClosed) Note(CloseReason.Log, reason.Message);
            if (Planted.Is("doubt-goes-on")) return;
            if (Planted.Is("doubt-is-failure")) Reply(Dequeue().Head.Xid, _lastZxid, ErrorCode.SystemError);
            // Z5: no write of the client is sent behind one whose fate is not known, also where the client has gone.
            Close();
        }
    }

    /// <summary>Takes a request.</summary>
    /// <param name="request">Null: its body is malformed, or its type is unknown.</param>
    /// <returns>Completes when the next request may be read.</returns>
    private Task Enqueue(in RequestHead head, ClientRequest? request, int bytes)
    {
        lock (Dispatcher.Gate)
        {
            if (_isClosed || _isLast || !MayAnswer()) return Task.CompletedTask;
            _wasHeard = true;
            _received++;
            _services.Figures.Received++;
            if (head is { Code: OpCode.Ping, Xid: RequestHead.PingXid })
            {
                Reply(head.Xid, Advance(Dispatcher.Root!.LastZxid), ErrorCode.Ok);
                return Task.CompletedTask;
            }

            var (missing, isBarrier) = Route(request);
            var queued = new QueuedRequest(head, request, _ids, bytes, _services.Time.GetTimestamp())
            {
                Order = ++_arrived,
                Missing = missing,
                IsBarrier = isBarrier,
                AwaitsCheck = request is not null && (request.Code == OpCode.Sync || !missing.IsEmpty
                    || _services.AreReadsLinearizable && request is NodeRequest or MultiReadRequest),
            };
            Prove(queued);
            if (_isReadOnly)
            {
                AnswerWithoutLog(queued);
                return Task.CompletedTask;
            }

            if (Planted.Is("reads-overtake-writes") && request is NodeRequest { Code: not OpCode.Sync })
            {
                Answer(queued);
                return Task.CompletedTask;
            }

            _queue.AddLast(queued);
            _queuedBytes += queued.Bytes;
            // The rest of what has come is counted behind the last whole frame.
            _partialBytes = 0;
            if (queued.HoldsWrites) _unchecked++;
            else if (_unchecked == 0) TryPost(queued);
            RunQueue();
            Recount();
            if (_isClosed || HasRoom) return Task.CompletedTask;
            _room = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Dispatcher.Connections.AwaitRoom(this);
            return _room.Task;
        }
    }

    private bool MayAnswer() => _isReadOnly ? Dispatcher.IsReadOnly : Dispatcher.MayAnswer();

    // A write behind a request for authentication has what that one proves. What ends the connection is its last.
    private void Prove(QueuedRequest queued)
    {
        if (queued.Request is AuthRequest auth)
        {
            if (_services.Credentials.Prove(auth.Scheme, auth.Credential.AsSpan(), _ids) is { } ids) _ids = ids;
            else _isLast = true;
        }

        if (queued.Head.Code is OpCode.CloseSession or OpCode.Sasl || !OpCodes.IsRequest(queued.Head.Code))
            _isLast = true;
    }

    private void PostWrites()
    {
        // A copy: a write that is refused ends the connection, and the queue.
        foreach (var queued in _queue.TakeWhile(static queued => !queued.HoldsWrites).ToArray())
            TryPost(queued);
    }

    private void TryPost(QueuedRequest queued)
    {
        if (_isClosed || queued.IsBarrier || !IsUnposted(queued)) return;
        var header = HeaderOf(queued);
        var op = OpOf(queued);
        try
        {
            queued.Post = TreeFor(op).Post(new RequestRecord(header, op), this);
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            // Too large for an entry, or the log's queue is full.
            Note(CloseReason.Log, e.Message);
            Close();
        }
    }

    private RequestHeader HeaderOf(QueuedRequest queued)
    {
        queued.Number = ++_writes;
        _posted++;
        Dispatcher.Connections.Writes++;
        return new RequestHeader(Session, _attachment, queued.Number,
            _services.Time.GetUtcNow().ToUnixTimeMilliseconds(), queued.Ids);
    }

    private static TreeOp OpOf(QueuedRequest queued) =>
        queued.Request is MultiRequest multi ? multi.Op : ((WriteRequest)queued.Request!).Op;

    // Answers from the head of the queue, until a request has to wait for the log.
    private void RunQueue()
    {
        while (!_isClosed && _queue.First?.Value is { Number: 0 } next)
        {
            if (next.AwaitsCheck)
            {
                if (_isChecking) return;
                // Set first: a check that needs no wait is played within the call, and runs the queue.
                _isChecking = true;
                _services.Sync.Wait(this);
                return;
            }

            if (next.IsBarrier) BeginBarrier(next);
            if (IsUnposted(next) || next.IsBarrier) return;

            Dequeue();
            var before = _output.Pending.Length;
            Answer(next);
            Count(next, ReplyWriter.ErrorIn(_output.Pending.Written[before..]));
        }
    }

    private static bool IsUnposted(QueuedRequest queued) =>
        queued is { Number: 0, Request: { } request } && OpCodes.IsWrite(request.Code);

    private QueuedRequest Dequeue()
    {
        var head = _queue.First!.Value;
        _queue.RemoveFirst();
        _queuedBytes -= head.Bytes;
        if (head.HoldsWrites) _unchecked--;
        if (head.Number == 0) return head;
        _posted--;
        Dispatcher.Connections.Writes--;
        return head;
    }

    private void Count(QueuedRequest replied, ErrorCode error)
    {
        var took = _services.Time.GetElapsedTime(replied.Began);
        _services.Figures.OnReply(took);
        FrontEndTelemetry.OnReply(replied.Head.Code, error, took);
    }

    // Z2: zxids of a connection's packets never fall.
    private long Advance(long zxid) => _lastZxid = Math.Max(_lastZxid, zxid);

    private void Reply(int xid, long zxid, ErrorCode error)
    {
        ReplyWriter.Write(_output.Pending, new ReplyHead(xid, zxid, error));
        Send();
    }

    private void Send()
    {
        _sent++;
        _services.Figures.Sent++;
        if (_output.IsOverfull) Abort(CloseReason.Slow, "it takes its packets too slowly");
        else Dispatcher.Send(_output);
        Recount();
    }

    // The table closes a connection when all together hold too much: this one too.
    private void Recount()
    {
        var (input, output) = (_queuedBytes + _partialBytes, _output.Size);
        var (inputChange, outputChange) = (input - InputBytes, output - OutputBytes);
        if (inputChange == 0 && outputChange == 0) return;
        (InputBytes, OutputBytes) = (input, output);
        Dispatcher.Connections.OnHeld(this, inputChange, outputChange);
    }

    /// <summary>Closes the connection at once: it holds most, and all together hold too much.</summary>
    /// <param name="held">Bytes that it holds of what is bounded.</param>
    /// <param name="name">Name of the limit, for the operator.</param>
    public void Evict(long held, long most, string name)
    {
        if (_isAborted) return;
        FrontEndTelemetry.OnClosed(CloseReason.Memory);
        FrontEndLog.Evicted(_services.Logger, Peer, held, most, name);
        Abort();
    }

    private void Abort(string kind, string reason)
    {
        Note(kind, reason);
        Abort();
    }

    private void Abort()
    {
        _isAborted = true;
        Close();
        _abort?.Invoke();
    }

    private void Note(string kind, string reason)
    {
        FrontEndTelemetry.OnClosed(kind);
        FrontEndLog.Closed(_services.Logger, Peer, reason);
    }
}
