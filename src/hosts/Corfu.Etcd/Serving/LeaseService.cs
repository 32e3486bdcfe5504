using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>Leases. Any front end renews and ends those that another one granted.</summary>
internal sealed class LeaseService(StoreAccess access) : Lease.LeaseBase
{
    // Etcd's shortest with its usual election timeout of a second.
    private const long ShortestSeconds = 2;

    // Etcd's longest, and the store's.
    private const long LongestSeconds = 9_000_000_000;

    public override Task<LeaseGrantResponse> LeaseGrant(LeaseGrantRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(LeaseGrant), context, async (served, token) =>
        {
            if (request.TTL > LongestSeconds) throw EtcdErrors.LeaseTooLong;
            if (request.ID < 0) throw EtcdErrors.Unsupported("The id of a lease is above 0.");
            var seconds = Math.Max(request.TTL, ShortestSeconds);
            var id = await served.GrantLeaseAsync(TimeSpan.FromSeconds(seconds), request.ID, token)
                .ConfigureAwait(false);
            return new LeaseGrantResponse { Header = served.Header(), ID = id, TTL = seconds };
        });

    public override Task<LeaseRevokeResponse> LeaseRevoke(LeaseRevokeRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(LeaseRevoke), context, async (served, token) =>
        {
            var revision = await served.Store.EndLeaseAsync(request.ID, token).ConfigureAwait(false);
            return new LeaseRevokeResponse { Header = served.Header(revision) };
        });

    public override Task LeaseKeepAlive(IAsyncStreamReader<LeaseKeepAliveRequest> requestStream,
        IServerStreamWriter<LeaseKeepAliveResponse> responseStream, ServerCallContext context) =>
        access.RunLongAsync(nameof(LeaseKeepAlive), context, async (served, token) =>
        {
            while (await requestStream.MoveNext(token).ConfigureAwait(false))
            {
                var answer = await RenewAsync(served, requestStream.Current.ID, token).ConfigureAwait(false);
                await responseStream.WriteAsync(answer, token).ConfigureAwait(false);
            }

            return true;
        });

    public override Task<LeaseTimeToLiveResponse> LeaseTimeToLive(
        LeaseTimeToLiveRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(LeaseTimeToLive), context, async (served, token) =>
        {
            var lease = await served.Store.FindLeaseAsync(request.ID, cancellationToken: token).ConfigureAwait(false);
            var answer = new LeaseTimeToLiveResponse { Header = served.Header(), ID = request.ID, TTL = -1 };
            if (lease is null) return answer;
            answer.TTL = (long)lease.Remaining.TotalSeconds;
            answer.GrantedTTL = (long)lease.TimeToLive.TotalSeconds;
            if (request.Keys) answer.Keys.AddRange(lease.Keys.Select(Ranges.ToBytes));
            return answer;
        });

    public override Task<LeaseLeasesResponse> LeaseLeases(LeaseLeasesRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(LeaseLeases), context, async (served, token) =>
        {
            var leases = await served.Store.ListLeasesAsync(cancellationToken: token).ConfigureAwait(false);
            var answer = new LeaseLeasesResponse { Header = served.Header() };
            // By their ends, the first one first.
            answer.Leases.AddRange(leases.OrderBy(static lease => lease.Remaining)
                .Select(static lease => new LeaseStatus { ID = lease.Id }));
            return answer;
        });

    private static async Task<LeaseKeepAliveResponse> RenewAsync(
        ServedStore served, long id, CancellationToken cancellationToken)
    {
        try
        {
            var timeToLive = await served.Store.RenewLeaseAsync(id, cancellationToken).ConfigureAwait(false);
            return new LeaseKeepAliveResponse
            {
                Header = served.Header(),
                ID = id,
                TTL = (long)timeToLive.TotalSeconds,
            };
        }
        catch (StoreLeaseNotFoundException)
        {
            return new LeaseKeepAliveResponse { Header = served.Header(), ID = id };
        }
    }
}
