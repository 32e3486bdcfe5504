using System.IO.Hashing;
using System.Net;
using System.Text;
using Corfu.Client;
using Corfu.Etcd.Serving;
using Corfu.Server;

namespace Corfu.Etcd.Hosting;

/// <summary>Serves a store to clients of etcd v3: gRPC and JSON at one port. Any number of equal front ends may serve
/// one store; they keep nothing.</summary>
public sealed class EtcdFrontEnd : IAsyncDisposable
{
    private readonly EtcdPort _port;
    private readonly EtcdPort? _ownPort;
    private readonly CorfuStore _store;
    private readonly MemberTable _members;
    private int _disposed;

    private EtcdFrontEnd(EtcdPort port, EtcdPort? ownPort, CorfuStore store, MemberTable members) =>
        (_port, _ownPort, _store, _members) = (port, ownPort, store, members);

    /// <summary>Options of the runtime that a front end needs.</summary>
    public static TangoOptions RuntimeOptions { get; } = new()
    {
        // Others' writes reach a watch within this time.
        WaitInterval = TimeSpan.FromMilliseconds(5),
        MaxBatchRecords = 512,
        MaxBatchBytes = 256 << 10,
        PublishEvery = 16,
    };

    /// <summary>The address at which the front end listens.</summary>
    public IPEndPoint EndPoint => _port.EndPoint;

    /// <param name="runtime">With <see cref="RuntimeOptions"/>, over <paramref name="client"/>; both stay the
    /// caller's.</param>
    /// <exception cref="ArgumentException">A limit is not allowed.</exception>
    /// <exception cref="CorfuException">The log does not answer.</exception>
    /// <exception cref="ListenException">The port is occupied.</exception>
    public static Task<EtcdFrontEnd> StartAsync(CorfuClient client, TangoRuntime runtime,
        EtcdFrontEndOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(client);
        return StartAsync(ServedLog.Of(client), runtime, options, null, cancellationToken);
    }

    /// <param name="port">Stays the caller's. Null: the front end opens one.</param>
    internal static async Task<EtcdFrontEnd> StartAsync(ServedLog log, TangoRuntime runtime,
        EtcdFrontEndOptions options, EtcdPort? port, CancellationToken cancellationToken)
    {
        EtcdLimits.Rules.Check(options.Limits);
        var ownPort = port is null ? await EtcdPort.OpenAsync(options, cancellationToken).ConfigureAwait(false) : null;
        port ??= ownPort!;
        CorfuStore? store = null;
        MemberTable? members = null;
        try
        {
            store = await CorfuStore.OpenAsync(
                log.Log, runtime, $"etcd/{options.Service}", cancellationToken: cancellationToken)
                .ConfigureAwait(false);
            var url = options.Advertise ?? UrlOf(port.EndPoint, options.Tls is not null);
            var identity = new EtcdIdentity(
                IdOf($"{log.Name}/{options.Service}"), IdOf($"{log.Name}/{options.Service}/{url}"));
            var table = await CorfuStore.OpenAsync(
                log.Log, runtime, $"etcd/{options.Service}/members", cancellationToken: cancellationToken)
                .ConfigureAwait(false);
            members = new MemberTable(table, new ServedMember(identity.Member, url[(url.IndexOf("//",
                StringComparison.Ordinal) + 2)..], [url]));
            await members.JoinAsync(cancellationToken).ConfigureAwait(false);
            port.Access.Current = new ServedStore(store, members, identity, log.Term, options.Limits);
            return new EtcdFrontEnd(port, ownPort, store, members);
        }
        catch
        {
            if (members is not null) await members.DisposeAsync().ConfigureAwait(false);
            if (store is not null) await store.DisposeAsync().ConfigureAwait(false);
            if (ownPort is not null) await ownPort.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Ends the calls and watches of clients, who go on at other front ends.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        // The port first: a connection that is open takes calls, and clients do not repeat a write that fails.
        if (_ownPort is not null) await _ownPort.DisposeAsync().ConfigureAwait(false);
        _port.Access.Current = null;
        await _members.DisposeAsync().ConfigureAwait(false);
        await _store.DisposeAsync().ConfigureAwait(false);
    }

    private static string UrlOf(IPEndPoint at, bool isTls)
    {
        var isAny = at.Address.Equals(IPAddress.Any) || at.Address.Equals(IPAddress.IPv6Any);
        return $"{(isTls ? "https" : "http")}://{(isAny ? $"{Dns.GetHostName()}:{at.Port}" : at.ToString())}";
    }

    // Above 0, and the same whenever the front end starts: clients tell members by it.
    private static ulong IdOf(string name) => XxHash64.HashToUInt64(Encoding.UTF8.GetBytes(name)) | 1;
}

/// <summary>The log under a front end.</summary>
/// <param name="Name">The cluster's, the same at all front ends.</param>
/// <param name="Term">The epoch, now.</param>
internal sealed record ServedLog(ICorfuLog Log, string Name, Func<ulong> Term)
{
    public static ServedLog Of(CorfuClient client) => new(
        client, client.Projection.Cluster.ToString(), () => (ulong)client.Projection.Epoch.Value);
}
