namespace Salus.Region.Core;

/// <summary>Releases files that no kept checkpoint needs, and records below the stable point, by a certificate of all
/// members over what each of them reads from the log of the cluster (S19).</summary>
internal sealed partial class RegionCore
{
    // Checkpoints kept when this member released last.
    private ImmutableArray<CheckpointName> _released = [];
    private long _releasedFloor;
    private bool _isReleasing;
    private long _releaseAt;

    private bool MustRelease => Region is { Checkpoints: { IsEmpty: false } kept } && !kept.SequenceEqual(_released);

    // The newest checkpoint that the stable point has reached: the region returns to nothing below, but for snapshots.
    private (long Checkpoint, long Index) Floor
    {
        get
        {
            if (Volume is not { } volume || Region is not { } region) return default;
            var floor = default(CheckpointName);
            foreach (var checkpoint in region.Checkpoints)
            {
                if (checkpoint.Batch <= volume.Head.Stable) floor = checkpoint;
            }

            return (floor.Number, floor.Index);
        }
    }

    // At the primary.
    private void Release()
    {
        if (!IsPrimary || !IsAdmitted || !MustRelease || _isReleasing || _releaseAt > _services.Now) return;
        var (checkpoint, floor) = Floor;
        var statement = Statement.Release(Key, Generation, checkpoint, floor);
        if (!TrySign(statement, out var own)) return;
        if (IsLastMember)
        {
            Released(floor);
            return;
        }

        _isReleasing = true;
        var request = new ReleaseRequest(Generation, Key, checkpoint, floor, [own]);
        Call(_generation.Members[1], request, response => Now(() =>
        {
            _isReleasing = false;
            if (response is { IsOk: true }
                && AreOf(response.Signatures.AsSpan(), 1, _members.Members.Length - 1, statement)) Released(floor);
            else _releaseAt = _services.Behind(s_cutPause);
        }));
    }

    private bool TryRelease(ReleaseRequest request, ReplyTo reply)
    {
        var statement = Statement.Release(Key, Generation, request.Checkpoint, request.Floor);
        if (request.Region != Key || _me == 0) return Reply(reply, request.Fail(SalusStatus.WrongMember, Generation));
        if (Planted.Is("delete-on-request"))
        {
            Obey(request);
        }
        else
        {
            if (!AreOf(request.Signatures.AsSpan(), 0, _me, statement))
                return Reply(reply, request.Fail(Status.BadRequest, Generation));
            // The sender has played more of the log, or is wrong.
            if (!IsAdmitted || request.Checkpoint > Floor.Checkpoint || request.Floor > Floor.Index)
            {
                Refresh();
                return false;
            }
        }

        if (!TrySign(statement, out var own)) return false;
        if (IsLastMember)
        {
            Released(request.Floor);
            return Reply(reply, new SignedResponse(Status.Ok, Generation) { Signatures = [own] });
        }

        var behind = _members.Members.Length - _me - 1;
        Call(_generation.Members[_me + 1], request with { Signatures = [.. request.Signatures, own] },
            response => Now(() =>
            {
                if (response is not { IsOk: true } || !AreOf(response.Signatures.AsSpan(), _me + 1, behind, statement))
                {
                    reply.Send(Pending(request));
                    return;
                }

                Released(request.Floor);
                reply.Send(new SignedResponse(Status.Ok, Generation) { Signatures = [own, .. response.Signatures] });
            }));
        return true;
    }

    // All members have signed. What this member has played may be older than what the others have: it keeps more then.
    private void Released(long floor)
    {
        if (Region is not { } region) return;
        _released = region.Checkpoints;
        if (floor > _releasedFloor && _services.Log.TryRaiseFloor(Key, floor, out _) == Status.Ok)
            _releasedFloor = floor;
        Delete(region.Checkpoints);
    }

    private void Delete(ImmutableArray<CheckpointName> kept)
    {
        var deleted = _body.ReleaseAsync(kept);
        _services.Loops.Start(async () =>
        {
            try
            {
                await deleted;
            }
            catch (OperationCanceledException)
            {
                // The body was closed: the next generation releases.
            }
        });
    }

    private void Obey(ReleaseRequest request)
    {
        if (Region is not { } region) return;
        _services.Log.TryRaiseFloor(Key, request.Floor, out _);
        Delete([.. region.Checkpoints.Where(checkpoint => checkpoint.Number >= request.Checkpoint)]);
    }
}
