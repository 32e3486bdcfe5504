namespace Salus.Region.Core;

/// <summary>Reads of blocks and of the tree, and what the region says of itself.</summary>
internal sealed partial class RegionCore
{
    // The answer waits until the region's last batch is applied here (S14).
    private bool TryGet(GetRequest request, ReplyTo reply)
    {
        if (request.Region != Key || request.First + request.Count > _geometry.BlocksOf(Key.Region)
            || (long)request.Count * _geometry.BlockSize > BatchLimits.MaxPayload)
            return Reply(reply, request.Fail(Status.BadRequest, Generation));
        if (!HasApplied(request.Last, request.Commit, request.Snapshot)) return false;
        // Begun in the turn: the body takes from its memory what it needs before it waits.
        var read = _body.ReadAsync(request.First, request.Count, request.Snapshot, _stop.Token).AsTask();
        _services.Loops.Start(() => DeliverAsync(request, reply, read, static (status, epoch, read) =>
            new GetResponse(status, epoch) { Blocks = read.Status == Status.Ok ? read.Blocks : [] },
            static read => read.Status));
        return true;
    }

    private bool TryReadTree(ReadTreeRequest request, ReplyTo reply)
    {
        var pages = _geometry.PagesOf(Key.Region);
        if (request.Region != Key || request.Pages.Any(page => page >= pages))
            return Reply(reply, request.Fail(Status.BadRequest, Generation));
        if (!HasApplied(request.Last, request.Commit, request.Snapshot)) return false;
        var read = _body.ReadTreeAsync(request.Pages, request.Snapshot, _stop.Token).AsTask();
        _services.Loops.Start(() => DeliverAsync(request, reply, read, (status, epoch, read) =>
            new ReadTreeResponse(status, epoch)
            {
                Batch = read.Batch,
                PageHashes = request.Pages.IsEmpty ? read.PageHashes : [],
                Pages = read.Pages,
            },
            static read => read.Status));
        return true;
    }

    private bool HasApplied(long last, CommitProof? commit, long snapshot)
    {
        if (!_services.Map.IsHeld) return false;
        if (snapshot > 0 || Planted.Is("get-without-commit")) return true;
        if (commit is not null) Apply(commit);
        // A proof of a run that is not opened here may void what the region has.
        return last <= _lastCommitted.Number && !(commit?.Batch.Run > _run);
    }

    // The lease may have ended since, and newer members may have committed more (S13).
    private async Task DeliverAsync<T>(
        Request request, ReplyTo reply, Task<T> read, Func<Status, Epoch, T, Response> answer, Func<T, Status> statusOf)
    {
        Response response;
        try
        {
            var found = await read;
            var status = statusOf(found);
            response = status == Status.Ok
                ? answer(status, Generation, found)
                : request.Fail(status, Generation);
        }
        catch (Exception error) when (error is IOException or CorfuException or ObjectDisposedException
            or OperationCanceledException)
        {
            response = request.Fail(Status.Failed, Generation);
        }

        if (!_services.Map.IsHeld)
            response = request.Fail(SalusStatus.Behind, Generation);
        Count(response);
        reply.Send(response);
    }

    private static void Count(Response response)
    {
        if (response.Status is Status.Corrupt or Status.Failed) RegionTelemetry.ReadFailures.Add(1);
        else if (response is GetResponse { IsOk: true } get)
            RegionTelemetry.Read(get.Blocks.Sum(static block => (long)block.Length));
    }

    private bool TryStatus(RegionStatusRequest request, ReplyTo reply)
    {
        if (request.Region != Key) return Reply(reply, request.Fail(SalusStatus.WrongMember, Generation));
        if (request.Run < _run) return Reply(reply, request.Fail(SalusStatus.RunOver, Generation));
        if (request.Run > _run && _hasDiverged)
            return Reply(reply, request.Fail(SalusStatus.Diverged, Generation));
        if (request.Run > _run || !IsOpened) return false;
        return Reply(reply, new RegionStatusResponse(Status.Ok, Generation)
        {
            LastIndex = _lastIndex,
            Last = _last,
            Root = _body.Root,
            Commit = _commit,
            Wait = WaitOf(request.Oldest),
        });
    }

    // From the checkpoint that the stable point has reached: no region returns below (S19).
    private bool TryHistory(RegionHistoryRequest request, ReplyTo reply)
    {
        if (request.Region != Key) return Reply(reply, request.Fail(SalusStatus.WrongMember, Generation));
        if (request.Run < _run) return Reply(reply, request.Fail(SalusStatus.RunOver, Generation));
        if (request.Run > _run || !IsOpened || !IsSettled || Volume is not { } volume) return false;
        var kept = volume.Regions[Key.Region].Checkpoints;
        var floor = kept.LastOrDefault(checkpoint => checkpoint.Batch <= volume.Head.Stable);
        var read = HistoryReader.ReadAsync(_services.Log, Key, Generation,
            [floor, .. kept.Where(checkpoint => checkpoint.Index > floor.Index)], (_lastIndex, _lastChain));
        _services.Loops.Start(() => DeliverAsync(request, reply, read,
            static (_, _, history) => history!, static history => history is null ? Status.Corrupt : Status.Ok));
        return true;
    }

    private RegionWait WaitOf(long oldest)
    {
        if (!IsAdmitted) return RegionWait.Admission;
        if (oldest <= _committed) return RegionWait.None;
        if (_batches.Find(placed => placed.Number == oldest) is not { } batch)
            return oldest > _last.Number ? RegionWait.Batch : RegionWait.None;
        if (IsPrimary ? batch.Vote is null : !batch.HasPrepared) return RegionWait.Members;
        if (batch.Header.Leader != Key.Region || !IsPrimary) return RegionWait.Leader;
        return IsReady(batch) ? RegionWait.Predecessor : RegionWait.Votes;
    }
}
