using System.Text;
using Corfu.Etcd.Hosting;
using Corfu.Etcd.Serving;
using Corfu.Etcd.Watching;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;

namespace Corfu.Etcd.Gateway;

/// <summary>The calls of etcd as JSON over HTTP/1.1, as Patroni and curl use them.</summary>
internal sealed class JsonGateway(IEndpointRouteBuilder routes, EtcdLimits limits)
{
    private const string JsonType = "application/json";

    // Clients of older versions of etcd.
    private static readonly string[] s_prefixes = ["/v3", "/v3beta", "/v3alpha"];

    public void Map(StoreAccess access)
    {
        MapKeys(new KvService(access));
        MapWatch(new WatchService(access));
        MapLeases(new LeaseService(access));
        MapOperations(
            new ClusterService(access), new MaintenanceService(access), new AuthService(access));
        MapLocks(new LockService(access), new ElectionService(access));
        routes.MapGet("/version", static context => WriteAsync(context, StatusCodes.Status200OK,
            $$"""{"etcdserver":"{{MaintenanceService.Version}}","etcdcluster":"3.4.0"}"""));
        routes.MapGet("/health", context => access.Current is null
            ? WriteAsync(context, StatusCodes.Status503ServiceUnavailable, """{"health":"false"}""")
            : WriteAsync(context, StatusCodes.Status200OK, """{"health":"true"}"""));
    }

    private void MapKeys(KvService keys)
    {
        Map<RangeRequest, RangeResponse>("/kv/range", keys.Range);
        Map<PutRequest, PutResponse>("/kv/put", keys.Put);
        Map<DeleteRangeRequest, DeleteRangeResponse>("/kv/deleterange", keys.DeleteRange);
        Map<TxnRequest, TxnResponse>("/kv/txn", keys.Txn);
        Map<CompactionRequest, CompactionResponse>("/kv/compaction", keys.Compact);
    }

    private void MapWatch(WatchService watches) => MapStream<WatchRequest, WatchResponse>("/watch", watches.Watch);

    private void MapLeases(LeaseService leases)
    {
        MapStream<LeaseKeepAliveRequest, LeaseKeepAliveResponse>("/lease/keepalive", leases.LeaseKeepAlive);
        Map<LeaseGrantRequest, LeaseGrantResponse>("/lease/grant", leases.LeaseGrant);
        foreach (var path in (string[])["/lease/revoke", "/kv/lease/revoke"])
            Map<LeaseRevokeRequest, LeaseRevokeResponse>(path, leases.LeaseRevoke);
        foreach (var path in (string[])["/lease/timetolive", "/kv/lease/timetolive"])
            Map<LeaseTimeToLiveRequest, LeaseTimeToLiveResponse>(path, leases.LeaseTimeToLive);
        foreach (var path in (string[])["/lease/leases", "/kv/lease/leases"])
            Map<LeaseLeasesRequest, LeaseLeasesResponse>(path, leases.LeaseLeases);
    }

    private void MapOperations(ClusterService cluster, MaintenanceService maintenance, AuthService auth)
    {
        Map<MemberListRequest, MemberListResponse>("/cluster/member/list", cluster.MemberList);
        Map<StatusRequest, StatusResponse>("/maintenance/status", maintenance.Status);
        Map<AlarmRequest, AlarmResponse>("/maintenance/alarm", maintenance.Alarm);
        Map<DefragmentRequest, DefragmentResponse>("/maintenance/defragment", maintenance.Defragment);
        Map<HashKVRequest, HashKVResponse>("/maintenance/hash", maintenance.HashKV);
        Map<AuthenticateRequest, AuthenticateResponse>("/auth/authenticate", auth.Authenticate);
        Map<AuthStatusRequest, AuthStatusResponse>("/auth/status", auth.AuthStatus);
        Map<AuthEnableRequest, AuthEnableResponse>("/auth/enable", auth.AuthEnable);
        Map<AuthDisableRequest, AuthDisableResponse>("/auth/disable", auth.AuthDisable);
        Map<AuthUserListRequest, AuthUserListResponse>("/auth/user/list", auth.UserList);
        Map<AuthRoleListRequest, AuthRoleListResponse>("/auth/role/list", auth.RoleList);
    }

    private void MapLocks(LockService locks, ElectionService elections)
    {
        Map<LockRequest, LockResponse>("/lock/lock", locks.Lock);
        Map<UnlockRequest, UnlockResponse>("/lock/unlock", locks.Unlock);
        Map<CampaignRequest, CampaignResponse>("/election/campaign", elections.Campaign);
        Map<ProclaimRequest, ProclaimResponse>("/election/proclaim", elections.Proclaim);
        Map<LeaderRequest, LeaderResponse>("/election/leader", elections.Leader);
        Map<ResignRequest, ResignResponse>("/election/resign", elections.Resign);
        MapStream<LeaderRequest, LeaderResponse>("/election/observe", async (requests, answers, call) =>
        {
            var request = await requests.MoveNext(call.CancellationToken).ConfigureAwait(false)
                ? requests.Current
                : new LeaderRequest();
            await elections.Observe(request, answers, call).ConfigureAwait(false);
        });
    }

    private void Map<TRequest, TAnswer>(string path, Func<TRequest, ServerCallContext, Task<TAnswer>> call)
        where TRequest : class, IMessage, new()
        where TAnswer : IMessage =>
        MapPost(path, async context =>
        {
            try
            {
                var request = await JsonBodies.ReadAsync<TRequest>(
                    context.Request.BodyReader, MostBytes, context.RequestAborted).ConfigureAwait(false);
                var answer = await call(request ?? new TRequest(), new GatewayCall(context)).ConfigureAwait(false);
                await WriteAsync(context, StatusCodes.Status200OK, JsonBodies.Write(answer)).ConfigureAwait(false);
            }
            catch (RpcException e) when (!context.RequestAborted.IsCancellationRequested)
            {
                await FailAsync(context, e.Status).ConfigureAwait(false);
            }
        });

    private void MapStream<TRequest, TAnswer>(
        string path, Func<IAsyncStreamReader<TRequest>, IServerStreamWriter<TAnswer>, ServerCallContext, Task> call)
        where TRequest : class, IMessage, new()
        where TAnswer : IMessage =>
        MapPost(path, async context =>
        {
            // A client may ask as seldom as it likes.
            if (context.Features.Get<IHttpMinRequestBodyDataRateFeature>() is { } rate) rate.MinDataRate = null;
            context.Response.ContentType = JsonType;
            var answers = new JsonLines<TAnswer>(context.Response.BodyWriter);
            try
            {
                await call(new JsonRequests<TRequest>(context.Request.BodyReader, MostBytes), answers,
                    new GatewayCall(context)).ConfigureAwait(false);
            }
            catch (RpcException) when (context.RequestAborted.IsCancellationRequested)
            {
                // The client has gone.
            }
            catch (RpcException e) when (answers.HasBegun)
            {
                await context.Response.WriteAsync($"{GatewayErrors.ToLine(e.Status)}\n").ConfigureAwait(false);
            }
            catch (RpcException e)
            {
                await FailAsync(context, e.Status).ConfigureAwait(false);
            }
        });

    // Base64 is a third longer than the bytes; names and numbers beside them.
    private int MostBytes => 2 * limits.MaxRequestBytes;

    private void MapPost(string path, RequestDelegate handle)
    {
        foreach (var prefix in s_prefixes) routes.MapPost(prefix + path, handle);
    }

    private static Task FailAsync(HttpContext context, Status status) =>
        WriteAsync(context, GatewayErrors.ToHttp(status.StatusCode), GatewayErrors.ToText(status));

    private static async Task WriteAsync(HttpContext context, int code, string json)
    {
        var bytes = Encoding.UTF8.GetBytes(json);
        context.Response.StatusCode = code;
        context.Response.ContentType = JsonType;
        context.Response.ContentLength = bytes.Length;
        await context.Response.BodyWriter.WriteAsync(bytes, context.RequestAborted).ConfigureAwait(false);
    }
}
