namespace Salus.Region.Core;

/// <summary>The leader's part: votes of all participants and the commit of the batch before make the decision, which
/// all members of the leader verify and sign (S3 to S5).</summary>
internal sealed partial class RegionCore
{
    // Batches of one decision: with their headers they are far below the size of a frame.
    private const int MaxVotes = 8192;

    private bool _isDeciding;
    private bool _isConfirming;
    private long _decideAt;
    private long _confirmAt;

    private bool TryVote(VoteRequest request, ReplyTo reply)
    {
        var name = request.Batch;
        if (!IsPrimary || request.Leader != Key) return Reply(reply, request.Fail(SalusStatus.WrongMember, Generation));
        if (name.Run < _run) return Reply(reply, request.Fail(SalusStatus.RunOver, Generation));
        if (name.Run == _run && _commit is { } commit && commit.Batch.Number >= name.Number)
            return Reply(reply, new CommitResponse(Status.Ok, Generation) { Commit = commit });
        // The vote may be here before the batch.
        if (!TryFindBatch(name, out var batch) || batch.Header.Leader != Key.Region) return false;
        var vote = request.Vote;
        if (batch.VoteOf(vote.Region)?.Certificate is { } known && known == vote.Certificate) return false;
        if (batch.Header.Find(vote.Region) is null) return Reply(reply, request.Fail(Status.BadRequest, Generation));
        switch (Judge(vote, name))
        {
            case Status.Ok:
                batch.Take(vote);
                return false;
            case SalusStatus.Pending:
                return false;
            default:
                return Reply(reply, request.Fail(Status.BadRequest, Generation));
        }
    }

    private bool TryConfirm(ConfirmRequest request, ReplyTo reply)
    {
        if (request.Leader != Key) return Reply(reply, request.Fail(SalusStatus.WrongMember, Generation));
        if (request.Run < _run) return Reply(reply, request.Fail(SalusStatus.RunOver, Generation));
        return request.Run == _run && _commit is { } commit && commit.Batch.Number >= request.Batch
            && Reply(reply, new CommitResponse(Status.Ok, Generation) { Commit = commit });
    }

    // At the primary: one decision at a time, over all batches that are ready behind each other.
    private void Decide()
    {
        if (!IsPrimary || !IsAdmitted || _isDeciding || _decideAt > _services.Now) return;
        var first = _batches.FindIndex(batch => batch.Header.Leader == Key.Region && batch.Number > _committed);
        if (first < 0) return;
        if (!IsCommitted(_batches[first].Header, _commit))
        {
            Confirm(_batches[first].Header);
            return;
        }

        if (!IsReady(_batches[first])) return;
        var decided = ImmutableArray.CreateBuilder<DecidedBatch>();
        var votes = 0;
        for (var i = first; i < _batches.Count && decided.Count < DecideRequest.MaxBatches; i++)
        {
            var batch = _batches[i];
            votes += batch.Votes.Count;
            if (batch.Number != _batches[first].Number + (i - first) || !IsReady(batch)
                || (i > first && votes > MaxVotes)) break;
            decided.Add(new DecidedBatch(batch.Header, [.. batch.Votes]));
        }

        var predecessor = _batches[first].Header.PreviousLeader is null ? null : _commit;
        Pass(new DecideRequest(Generation, Key, decided.DrainToImmutable(), predecessor, []));
    }

    private void Pass(DecideRequest request)
    {
        var name = request.Batches[^1].Header.Name;
        var statement = Statement.Committed(Key, Generation, name);
        if (!TrySign(statement, out var own)) return;
        if (IsLastMember)
        {
            RegionTelemetry.Decisions.Add(request.Batches.Length);
            Apply(new CommitProof(Key.Region, name, new Certificate(Generation, [own])));
            return;
        }

        _isDeciding = true;
        Call(_generation.Members[1], request with { Signatures = [own] }, response => Now(() =>
        {
            _isDeciding = false;
            if (response is { IsOk: true }
                && AreOf(response.Signatures.AsSpan(), 1, _members.Members.Length - 1, statement))
            {
                RegionTelemetry.Decisions.Add(request.Batches.Length);
                Apply(new CommitProof(
                    Key.Region, name, new Certificate(Generation, [own, .. response.Signatures])));
                return;
            }

            _decideAt = Again(response);
        }));
    }

    // At the other members: each verifies all of it, and passes it on.
    private bool TryDecide(DecideRequest request, ReplyTo reply)
    {
        var run = request.Batches[0].Header.Run;
        var name = request.Batches[^1].Header.Name;
        var statement = Statement.Committed(Key, Generation, name);
        if (request.Leader != Key || _me == 0)
            return Reply(reply, request.Fail(SalusStatus.WrongMember, Generation));
        if (run < _run) return Reply(reply, request.Fail(SalusStatus.RunOver, Generation));
        if (run > _run || !IsAdmitted) return false;
        if (!AreOf(request.Signatures.AsSpan(), 0, _me, statement))
            return Reply(reply, request.Fail(Status.BadRequest, Generation));
        if (request.Predecessor is { } proof) Apply(proof);
        switch (Judge(request))
        {
            case Status.Ok:
                break;
            case SalusStatus.Pending:
                return false;
            default:
                return Reply(reply, request.Fail(Status.BadRequest, Generation));
        }

        if (!TrySign(statement, out var own)) return false;
        if (IsLastMember) return Reply(reply, new DecideResponse(Status.Ok, Generation) { Signatures = [own] });
        Call(_generation.Members[_me + 1], request with { Signatures = [.. request.Signatures, own] },
            response => Now(() => reply.Send(response is { IsOk: true }
                ? response with { Epoch = Generation, Signatures = [own, .. response.Signatures] }
                : request.Fail(response?.Status ?? SalusStatus.Pending, Generation))));
        return true;
    }

    private Status Judge(DecideRequest request)
    {
        var first = request.Batches[0].Header;
        if (!IsCommitted(first, request.Predecessor))
        {
            // The primary may have played a newer note of the driver.
            Refresh();
            return SalusStatus.Pending;
        }

        for (var i = 0; i < request.Batches.Length; i++)
        {
            var (header, votes) = request.Batches[i];
            if (header.Volume != Key.Volume || header.Leader != Key.Region || header.Run != first.Run
                || header.Number != first.Number + i || (i > 0 && header.PreviousLeader != Key.Region))
                return Status.BadRequest;
            foreach (var participant in header.Participants)
            {
                if (votes.FirstOrDefault(vote => vote.Region == participant.Region) is not { } vote)
                    return Status.BadRequest;
                if (Judge(vote, header.Name) is not Status.Ok and var status) return status;
            }
        }

        return Status.Ok;
    }

    // A vote counts with the signatures of all members of the region's present generation. Pending: of a newer one.
    private Status Judge(RegionVote vote, in BatchName name)
    {
        if (Volume?.Regions.GetValueOrDefault(vote.Region) is not { Current: { } current }) return SalusStatus.Pending;
        if (vote.Certificate.Generation > current.Number)
        {
            Refresh();
            return SalusStatus.Pending;
        }

        var statement = Statement.Prepared(
            new RegionKey(Key.Volume, vote.Region), vote.Certificate.Generation, name);
        return vote.Certificate.Proves(statement, current.Set) || IsTwoOfThree(vote, statement, current.Set)
            ? Status.Ok
            : Status.BadRequest;
    }

    private static bool IsTwoOfThree(RegionVote vote, Statement statement, MemberSet members) =>
        Planted.Is("two-of-three") && vote.Certificate.Signatures.Length == members.Members.Length
        && members.Members.Select((member, i) => vote.Certificate.Signatures[i].IsOf(member, statement))
            .Count(static isSigned => isSigned) >= members.Members.Length - 1;

    // The votes may be of generations that have been replaced since.
    private bool IsReady(PlacedBatch batch)
    {
        foreach (var participant in batch.Header.Participants)
        {
            if (batch.VoteOf(participant.Region) is not { } vote || Judge(vote, batch.Name) != Status.Ok) return false;
        }

        return true;
    }

    /// <summary>Whether all batches before this one are committed: proven, or the run begins above them (S4).</summary>
    // The driver's note counts too: a generation whose batches the stable point has passed is forgotten, and its
    // signatures prove nothing any more.
    private bool IsCommitted(BatchHeader header, CommitProof? proof)
    {
        if (Planted.Is("leader-skips-predecessor")) return true;
        if (header.PreviousLeader is null)
        {
            return Volume?.Head.Decision is { } decision && decision.Run == header.Run
                && decision.Batch.Number == header.Number - 1;
        }

        if (Volume is not { } volume) return false;
        if (volume.Head.Note is { } note && note.Batch.Run == header.Run && note.Batch.Number >= header.Number - 1)
            return true;
        return proof is not null && proof.Batch.Run == header.Run && proof.Batch.Number == header.Number - 1
            && volume.Proves(proof);
    }

    private void Confirm(BatchHeader header)
    {
        if (_isConfirming || _confirmAt > _services.Now || header.PreviousLeader is not { } leader
            || leader == Key.Region
            || Volume?.Regions.GetValueOrDefault(leader) is not { Current: { } current }) return;
        _isConfirming = true;
        var request = new ConfirmRequest(
            current.Number, new RegionKey(Key.Volume, leader), header.Run, header.Number - 1);
        Call(current.Members[0], request, response => Now(() =>
        {
            _isConfirming = false;
            if (response?.Commit is { } commit) Apply(commit);
            // The next batch's predecessor is asked for at once.
            if (_committed < header.Number - 1) _confirmAt = Again(response);
        }));
    }
}
