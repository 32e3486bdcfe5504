using Corfu.ZooKeeper.Serving;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Connections;

/// <summary>Answers to requests that need no record, where reading, registering and queueing the reply are one step;
/// and requests that concern several partitions, or one that is not played here.</summary>
internal sealed partial class ZooConnection
{
    // A third of the time-out: the client must hear before it gives the connection up.
    private const int LimitParts = 3;

    private int _timeout;

    private void Answer(QueuedRequest queued)
    {
        var (root, xid) = (Dispatcher.Roots, queued.Head.Xid);
        var zxid = Advance(root.LastZxid);
        switch (queued.Request)
        {
            case NodeRequest { Code: OpCode.Sync } sync:
                ReplyWriter.Begin(_output.Pending, new ReplyHead(xid, zxid, ErrorCode.Ok));
                _output.Pending.WriteString(sync.Path);
                _output.Pending.EndFrame();
                Send();
                break;
            case NodeRequest node:
                // Z4: no effect comes between, which the reply would lack and the watch not hear.
                Register(node, root, queued.Ids);
                Reads.Reply(_output.Pending, xid, zxid, node, root, new ReadCaller(Session, queued.Ids));
                Send();
                break;
            case MultiReadRequest reads:
                Reads.Reply(_output.Pending, xid, zxid, reads, root, new ReadCaller(Session, queued.Ids));
                Send();
                break;
            case WatchRequest watch:
                Answer(watch, xid, zxid);
                break;
            case SetWatchesRequest watches:
                SetAgain(watches, root, zxid);
                Reply(xid, zxid, ErrorCode.Ok);
                break;
            case AuthRequest auth:
                Answer(auth, queued.Ids, xid);
                break;
            case null when OpCodes.IsRequest(queued.Head.Code):
                Reply(xid, zxid, ErrorCode.MarshallingError);
                break;
            default:
                Answer(queued, zxid);
                break;
        }
    }

    // For a client that only reads. Nothing awaits the log, so replies are in order.
    private void AnswerWithoutLog(QueuedRequest queued)
    {
        var zxid = Advance(Dispatcher.Roots.LastZxid);
        var before = _output.Pending.Length;
        if (queued.Head.Code == OpCode.CloseSession)
        {
            Reply(queued.Head.Xid, zxid, ErrorCode.Ok);
            Close();
        }
        else if (IsUnposted(queued) || queued.Request is NodeRequest { Code: OpCode.Sync })
        {
            Reply(queued.Head.Xid, zxid, ErrorCode.NotReadOnly);
        }
        else if (!queued.Missing.IsEmpty)
        {
            // The root partition has no such node: it would be told as missing.
            Note(CloseReason.Log, "a partition is not played here, and the log is away");
            Close();
            return;
        }
        else
        {
            Answer(queued);
        }

        Count(queued, ReplyWriter.ErrorIn(_output.Pending.Written[before..]));
    }

    private void Answer(QueuedRequest queued, long zxid)
    {
        var xid = queued.Head.Xid;
        switch (queued.Head.Code)
        {
            case OpCode.WhoAmI:
                ReplyWriter.Begin(_output.Pending, new ReplyHead(xid, zxid, ErrorCode.Ok));
                ReplyWriter.WriteIds(_output.Pending, [.. queued.Ids.Select(static id => id with
                { Id = id.Scheme == "digest" ? id.Id.Split(':')[0] : id.Id })]);
                _output.Pending.EndFrame();
                Send();
                break;
            case OpCode.Ping:
                Reply(xid, zxid, ErrorCode.Ok);
                break;
            case OpCode.Reconfig:
                Reply(xid, zxid, ErrorCode.Unimplemented);
                break;
            case OpCode.Sasl:
                Reply(xid, zxid, ErrorCode.AuthFailed);
                Close();
                break;
            default:
                Reply(xid, zxid, ErrorCode.Unimplemented);
                Close();
                break;
        }
    }

    private void Answer(AuthRequest request, ImmutableArray<AuthId> ids, int xid)
    {
        var isProved = _services.Credentials.Prove(request.Scheme, request.Credential.AsSpan(), ids) is not null;
        Reply(xid, 0, isProved ? ErrorCode.Ok : ErrorCode.AuthFailed);
        if (!isProved) Close();
    }

    // A failed read leaves no watch, but for an exists of a node that is missing.
    private void Register(NodeRequest request, in ServedRoots root, ImmutableArray<AuthId> ids)
    {
        if (!request.Watch) return;
        var error = Reads.Check(request, root, ids, out _);
        if (error != ErrorCode.Ok && !(error == ErrorCode.NoNode && request.Code == OpCode.Exists)) return;
        if (Planted.Is("watch-after-read")) AddWatchLate(request);
        else AddWatch(request);
    }

    private void AddWatch(NodeRequest request)
    {
        if (request.Code is OpCode.GetChildren or OpCode.GetChildren2) Dispatcher.Watches.AddChild(request.Path, this);
        else Dispatcher.Watches.AddData(request.Path, this);
    }

    // The planted bug's. Apart, since its closure would be made for every read.
    private void AddWatchLate(NodeRequest request)
    {
        Dispatcher.Advanced += Add;

        void Add()
        {
            Dispatcher.Advanced -= Add;
            AddWatch(request);
        }
    }

    private void Answer(WatchRequest request, int xid, long zxid)
    {
        var (watches, path) = (Dispatcher.Watches, request.Path);
        if (request.Code == OpCode.AddWatch)
        {
            if (!NodePath.IsValid(path) || !Enum.IsDefined((WatchMode)request.Kind))
            {
                Reply(xid, zxid, ErrorCode.BadArguments);
                return;
            }

            if ((WatchMode)request.Kind == WatchMode.Recursive) watches.AddRecursive(path, this);
            else watches.AddPersistent(path, this);
            ReplyWriter.Begin(_output.Pending, new ReplyHead(xid, zxid, ErrorCode.Ok));
            _output.Pending.WriteInt32(0);
            _output.Pending.EndFrame();
            Send();
            return;
        }

        var kind = (WatchKind)request.Kind;
        var found = !Enum.IsDefined(kind) ? (bool?)null
            : request.Code == OpCode.CheckWatches ? watches.Has(kind, path, this) : watches.Remove(kind, path, this);
        Reply(xid, zxid, found switch
        {
            null => ErrorCode.BadArguments,
            true => ErrorCode.Ok,
            false => ErrorCode.NoWatcher,
        });
    }

    // Changes behind the zxid that the client has seen are told; other watches stand again.
    private void SetAgain(SetWatchesRequest request, in ServedRoots root, long zxid)
    {
        foreach (var path in request.Data)
        {
            if (root.Find(path) is not { } node) TellOf(TreeChangeKind.Deleted, path, null, zxid);
            else if (node.Stat.Mzxid > request.Zxid) TellOf(TreeChangeKind.DataChanged, path, node, zxid);
            else Dispatcher.Watches.AddData(path, this);
        }

        foreach (var path in request.Exist)
        {
            if (root.Find(path) is { } node) TellOf(TreeChangeKind.Created, path, node, zxid);
            else Dispatcher.Watches.AddData(path, this);
        }

        foreach (var path in request.Child)
        {
            if (root.Find(path) is not { } node) TellOf(TreeChangeKind.Deleted, path, null, zxid);
            else if (node.Stat.Pzxid > request.Zxid) TellOf(TreeChangeKind.ChildrenChanged, path, node, zxid);
            else Dispatcher.Watches.AddChild(path, this);
        }

        foreach (var path in request.Persistent) Dispatcher.Watches.AddPersistent(path, this);
        foreach (var path in request.Recursive) Dispatcher.Watches.AddRecursive(path, this);
        // An event above may have ended the connection.
        if (_isClosed) Dispatcher.Watches.RemoveAll(this);
    }

    // A deleted node has no list any more; the client had the right when it left the watch.
    private void TellOf(TreeChangeKind kind, string path, ZNode? node, long zxid) =>
        Tell(new TreeChange(kind, path, node?.Acl ?? AclList.Open), zxid);

    // A service of one partition: nothing is missing, and no request concerns several.
    private (ImmutableArray<string> Missing, bool IsBarrier) Route(ClientRequest? request)
    {
        if (Dispatcher.Root is not { MountCount: > 0 } root || request is null) return ([], false);
        var mounts = ServedRoots.MountsOf(root, request).Distinct().ToList();
        return ([.. mounts.Where(mount => Dispatcher.RootOf(mount) is null)],
            request.Code == OpCode.CloseSession || request is MultiRequest && mounts.Count > 1);
    }

    private ZooKeeperTree TreeFor(TreeOp op)
    {
        var mounts = Dispatcher.Root is { MountCount: > 0 } root ? TreePartitions.PartitionsOf(root, op) : [];
        return _services.Partitions.TreeOf(mounts.Count == 0 ? NodePath.Root : mounts[0]);
    }

    private void BeginBarrier(QueuedRequest queued)
    {
        if (queued.Number != 0 || _isClosed) return;
        var header = HeaderOf(queued);
        if (queued.Request is MultiRequest multi) _services.Loops.Start(() => DecideAsync(queued, header, multi.Op));
        else _services.Loops.Start(() => EndSessionAsync(queued, new RequestRecord(header, OpOf(queued))));
    }

    private async Task DecideAsync(QueuedRequest queued, RequestHeader header, MultiOp multi)
    {
        var result = await _services.Partitions.DecideAsync(
            header, multi, TimeSpan.FromMilliseconds(_timeout) / LimitParts, _services.Stopped);
        lock (Dispatcher.Gate)
        {
            // The effects of its parts were told before, and were the reply.
            if (_isClosed || _queue.First?.Value != queued || !Dispatcher.MayAnswer()) return;
            if (result.Failure is not { } failure)
            {
                // Z6: never guessed.
                Note(CloseReason.Log, "whether a multi across partitions took effect is not known");
                Close();
                return;
            }

            Dequeue();
            if (failure.Error == ZooKeeperError.SessionMoved) Close();
            else Reply(queued, Dispatcher.Roots.LastZxid, failure);
        }
    }

    private async Task EndSessionAsync(QueuedRequest queued, RequestRecord record)
    {
        TreeResult? result = null;
        try
        {
            result = await _services.Partitions.UpdateAsync(record, _services.Stopped);
        }
        catch (Exception e) when (LogFaults.IsFault(e) || e is OperationCanceledException)
        {
            FrontEndLog.NotTaken(_services.Logger, nameof(CloseSessionOp), e);
        }

        // The record's effect was the reply. Without a record the session ends by its time-out.
        lock (Dispatcher.Gate)
        {
            if (result is null && _queue.First?.Value == queued) Close();
        }
    }
}
