using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>The front ends as members. Front ends join by starting and leave by ending.</summary>
internal sealed class ClusterService(StoreAccess access) : Protocol.Cluster.ClusterBase
{
    private const string Instead = "Front ends are no members of a group: start and stop 'corfu etcd' processes, and "
        + "change the log's nodes with 'corfu cluster' and 'corfu reconfigure'.";

    public override Task<MemberListResponse> MemberList(MemberListRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(MemberList), context, async (served, token) =>
        {
            var members = await served.Members.ListAsync(local: !request.Linearizable, token).ConfigureAwait(false);
            var answer = new MemberListResponse { Header = served.Header(0) };
            foreach (var member in members)
            {
                var row = new Member { ID = member.Id, Name = member.Name };
                row.ClientURLs.AddRange(member.Urls);
                // Clients want some; front ends do not talk to each other.
                row.PeerURLs.AddRange(member.Urls);
                answer.Members.Add(row);
            }

            return answer;
        });

    public override Task<MemberAddResponse> MemberAdd(MemberAddRequest request, ServerCallContext context) =>
        throw EtcdErrors.Unsupported(Instead);

    public override Task<MemberRemoveResponse> MemberRemove(MemberRemoveRequest request, ServerCallContext context) =>
        throw EtcdErrors.Unsupported(Instead);

    public override Task<MemberUpdateResponse> MemberUpdate(MemberUpdateRequest request, ServerCallContext context) =>
        throw EtcdErrors.Unsupported(Instead);

    public override Task<MemberPromoteResponse> MemberPromote(
        MemberPromoteRequest request, ServerCallContext context) => throw EtcdErrors.Unsupported(Instead);
}
