using Corfu.Etcd.Hosting;
using Grpc.Net.Client;

namespace Corfu.Etcd.Tests.Support;

/// <summary>A front end, and a client of it.</summary>
internal sealed class EtcdClient : IAsyncDisposable
{
    private readonly EtcdFrontEnd _frontEnd;
    private readonly TangoRuntime _runtime;
    private readonly GrpcChannel _channel;

    public EtcdClient(EtcdFrontEnd frontEnd, TangoRuntime runtime)
    {
        (_frontEnd, _runtime) = (frontEnd, runtime);
        _channel = GrpcChannel.ForAddress(Address);
        Keys = new KV.KVClient(_channel);
        Watches = new Watch.WatchClient(_channel);
        Leases = new Lease.LeaseClient(_channel);
        Cluster = new Protocol.Cluster.ClusterClient(_channel);
        Maintenance = new Maintenance.MaintenanceClient(_channel);
        Auth = new Auth.AuthClient(_channel);
        Locks = new Protocol.Lock.LockClient(_channel);
        Elections = new Election.ElectionClient(_channel);
        Http = new HttpClient { BaseAddress = Address };
    }

    public Uri Address => new($"http://{_frontEnd.EndPoint}");

    public KV.KVClient Keys { get; }

    public Watch.WatchClient Watches { get; }

    public Lease.LeaseClient Leases { get; }

    public Protocol.Cluster.ClusterClient Cluster { get; }

    public Maintenance.MaintenanceClient Maintenance { get; }

    public Auth.AuthClient Auth { get; }

    public Protocol.Lock.LockClient Locks { get; }

    public Election.ElectionClient Elections { get; }

    /// <summary>HTTP/1.1, to the same port.</summary>
    public HttpClient Http { get; }

    public async Task<long> PutAsync(string key, string value, long lease = 0) =>
        (await Keys.PutAsync(Put(key, value, lease))).Header.Revision;

    /// <summary>As <c>a=1 b=2</c>.</summary>
    public async Task<string> GetAsync(string key, string end = "") => Text(await Keys.RangeAsync(Range(key, end)));

    /// <summary>Ends the front end, as its process does.</summary>
    public async Task StopAsync()
    {
        await _frontEnd.DisposeAsync();
        await _runtime.DisposeAsync();
    }

    public async ValueTask DisposeAsync()
    {
        Http.Dispose();
        _channel.Dispose();
        await StopAsync();
    }
}
