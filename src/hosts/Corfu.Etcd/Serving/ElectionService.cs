using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>Elections by name.</summary>
internal sealed class ElectionService(StoreAccess access) : Election.ElectionBase
{
    private static RpcException NoLeader => new(new Status(StatusCode.Unknown, "election: no leader"));

    private static RpcException NotLeader => new(new Status(StatusCode.Unknown, "election: not leader"));

    private static RpcException NoKey =>
        new(new Status(StatusCode.Unknown, "\"leader\" field must be provided"));

    public override Task<CampaignResponse> Campaign(CampaignRequest request, ServerCallContext context) =>
        access.RunLongAsync(nameof(Campaign), context, async (served, token) =>
        {
            var turns = new Turns(served, request.Name);
            var lease = await turns.LeaseAsync(request.Lease, token).ConfigureAwait(false);
            var turn = await turns.TakeAsync(lease, request.Value, token).ConfigureAwait(false);
            await turns.WaitOrLeaveAsync(turn, token).ConfigureAwait(false);
            return new CampaignResponse
            {
                Header = served.Header(turn.Revision),
                Leader = new LeaderKey
                {
                    Name = request.Name,
                    Key = Ranges.ToBytes(turn.Key),
                    Rev = turn.Created,
                    Lease = lease,
                },
            };
        });

    public override Task<ProclaimResponse> Proclaim(ProclaimRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Proclaim), context, async (served, token) =>
        {
            var leader = request.Leader ?? throw NoKey;
            var revision = await new Turns(served, leader.Name).ReplaceAsync(
                Ranges.KeyOf(leader.Key), leader.Rev, leader.Lease, request.Value, token).ConfigureAwait(false);
            return new ProclaimResponse { Header = served.Header(revision ?? throw NotLeader) };
        });

    public override Task<LeaderResponse> Leader(LeaderRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Leader), context, async (served, token) =>
        {
            var (first, revision) = await new Turns(served, request.Name).FindFirstAsync(token).ConfigureAwait(false);
            return Answer(served, first ?? throw NoLeader, revision);
        });

    public override Task Observe(
        LeaderRequest request, IServerStreamWriter<LeaderResponse> responseStream, ServerCallContext context) =>
        access.RunLongAsync<bool>(nameof(Observe), context, async (served, token) =>
        {
            var turns = new Turns(served, request.Name);
            while (true)
            {
                var (first, revision) = await turns.FindFirstAsync(token).ConfigureAwait(false);
                if (first is null)
                {
                    await turns.WaitForChangeAsync(revision + 1, token).ConfigureAwait(false);
                    continue;
                }

                // Each value that the leader proclaims, in the order as made, until its key is gone.
                await responseStream.WriteAsync(Answer(served, first, revision), token).ConfigureAwait(false);
                await foreach (var next in turns.FollowAsync(first, revision + 1, token).ConfigureAwait(false))
                {
                    await responseStream.WriteAsync(Answer(served, next, next.Revision), token)
                        .ConfigureAwait(false);
                }
            }
        });

    public override Task<ResignResponse> Resign(ResignRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Resign), context, async (served, token) =>
        {
            var leader = request.Leader ?? throw NoKey;
            var revision = await new Turns(served, leader.Name).LeaveAsync(
                Ranges.KeyOf(leader.Key), leader.Rev, token).ConfigureAwait(false);
            return new ResignResponse { Header = served.Header(revision) };
        });

    private static LeaderResponse Answer(ServedStore served, StoreEntry first, long revision) =>
        new() { Header = served.Header(revision), Kv = Ranges.ToKeyValue(first) };
}
