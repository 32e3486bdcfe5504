namespace Salus.Region.Core;

/// <summary>A region's vote for a batch: all members have it durable (S3).</summary>
internal sealed partial class RegionCore
{
    // Signs what is durable. A generation that is not admitted votes for nothing: its successor may begin from the log
    // of the generation before, without what this one has adopted (S6).
    private void Prepare()
    {
        if (!IsAdmitted) return;
        foreach (var batch in _batches)
        {
            if (!batch.IsDurable || batch.HasPrepared || IsAdopted(batch)) continue;
            if (!TrySign(Statement.Prepared(Key, Generation, batch.Name), out var signature)) return;
            batch.Prepare(_me, signature, isOwn: true);
        }

        if (IsPrimary) Certify();
    }

    private bool IsAdopted(PlacedBatch batch) =>
        Planted.Is("new-leader-starts-above") && _slots.TrueForAll(slot => slot.Batch != batch);

    private void Certify()
    {
        foreach (var batch in _batches)
        {
            if (batch.Vote is not null || batch.TryCertify(Generation) is not { } certificate) continue;
            batch.Vote = certificate;
            RegionTelemetry.Votes.Add(1);
            if (batch.Header.Leader == Key.Region) batch.Take(new RegionVote(Key.Region, certificate));
            else Answer(batch, () => PutAnswer(Status.Ok));
        }
    }

    // Each batch until it is heard: members tell the primary, and the primary tells the leader.
    private void TellPrepared()
    {
        foreach (var batch in _batches)
        {
            if (batch.IsCalling || batch.CallAt > _services.Now) continue;
            if (!IsPrimary && batch is { HasPrepared: true, IsToldPrepared: false }) TellPrimary(batch);
            else if (IsPrimary && batch.Vote is { } vote && batch.Header.Leader != Key.Region) TellLeader(batch, vote);
        }
    }

    private void TellPrimary(PlacedBatch batch)
    {
        batch.IsCalling = true;
        var request = new PreparedRequest(
            Generation, Key, batch.Name, _members.Members[_me], batch.Prepared(_me));
        Call(_generation.Members[0], request, response => Now(() =>
        {
            batch.IsCalling = false;
            batch.IsToldPrepared = response is { IsOk: true };
            batch.CallAt = _services.Behind(s_retry);
        }));
    }

    private void TellLeader(PlacedBatch batch, Certificate vote)
    {
        var leader = batch.Header.Leader;
        if (Volume?.Regions.GetValueOrDefault(leader) is not { Current: { } current }) return;
        batch.IsCalling = true;
        var request = new VoteRequest(current.Number, new RegionKey(Key.Volume, leader), batch.Name,
            new RegionVote(Key.Region, vote));
        Call(current.Members[0], request, response => Now(() =>
        {
            batch.IsCalling = false;
            batch.CallAt = Again(response);
            if (response?.Commit is { } commit) Apply(commit);
        }));
    }

    private void TakePrepared(PreparedRequest request, ReplyTo reply)
    {
        var member = _members.IndexOf(request.Member);
        if (!IsPrimary || member <= 0 || request.Region != Key
            || !request.Signature.IsOf(request.Member, Statement.Prepared(Key, Generation, request.Batch)))
        {
            reply.Send(request.Fail(Status.BadRequest, Generation));
            return;
        }

        if (TryFindBatch(request.Batch, out var batch)) batch.Prepare(member, request.Signature, isOwn: false);
        reply.Send(request.Fail(Status.Ok, Generation));
    }
}
