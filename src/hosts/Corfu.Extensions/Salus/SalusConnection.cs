using Corfu;
using Corfu.Client;
using Corfu.Detection;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;
using Salus.Coordination;
using Salus.Protocol;
using Tango;
using Tango.Collections;

namespace Salus;

/// <summary>The log and the nodes, as a process that uses volumes sees them. Any thread. Disposed behind the volumes
/// that it has mounted.</summary>
public sealed class SalusConnection : IAsyncDisposable
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(5);

    private readonly TcpTransport _transport;
    private readonly ClusterTls? _tls;

    private SalusConnection(SalusLog log, SalusClient client, TcpTransport transport, ClusterTls? tls) =>
        (Log, Client, _transport, _tls) = (log, client, transport, tls);

    public SalusLog Log { get; }

    /// <summary>Finds volumes and mounts them.</summary>
    public SalusClient Client { get; }

    /// <param name="connection">The connection string of the log; its encryption and certificates count for the nodes
    /// too.</param>
    /// <param name="own">TLS of the process, which stays the caller's. Null: as the connection string says.</param>
    /// <exception cref="FormatException">The connection string is malformed.</exception>
    /// <exception cref="CorfuException">The log does not answer.</exception>
    public static async Task<SalusConnection> OpenAsync(string connection, SalusClientOptions? options = null,
        ClusterTls? own = null, ILoggerFactory? loggers = null, CancellationToken cancellationToken = default)
    {
        var parsed = ConnectionString.Parse(connection);
        // Clients of volumes get no more of a node's rights than they need.
        var tcp = new TcpTransportOptions { Tls = own, Role = AccessRole.Client };
        var log = await SalusLog.ConnectAsync(
            connection, CorfuClientOptions.Default with { Tcp = tcp }, loggers, cancellationToken);
        TcpTransport? transport = null;
        ClusterTls? tls = null;
        try
        {
            var logger = loggers?.CreateLogger<TcpTransport>();
            tcp = ConnectionTls.Apply(parsed, tcp with { Cluster = log.Cluster }, new TlsOptions(), out tls, logger);
            transport = new TcpTransport(tcp with { Cluster = log.Cluster }, TimeProvider.System, logger: logger);
            var client = await SalusClient.OpenAsync(log.Runtime, transport, options,
                logger: loggers?.CreateLogger<SalusClient>(), cancellationToken: cancellationToken);
            return new SalusConnection(log, client, transport, tls);
        }
        catch
        {
            await log.DisposeAsync();
            transport?.Dispose();
            tls?.Dispose();
            throw;
        }
    }

    /// <param name="name"><c>volume</c>, or <c>volume@snapshot</c> for reading.</param>
    /// <exception cref="VolumeException">There is none.</exception>
    public async Task<IVolumeSource> FindVolumeAsync(string name, CancellationToken cancellationToken = default) =>
        await Client.FindAsync(name, cancellationToken)
        ?? throw new VolumeException(VolumeFault.Unavailable, name.Contains('@', StringComparison.Ordinal)
            ? $"There is no snapshot '{name}': 'corfu volume snapshot VOLUME' lists the snapshots of a volume."
            : $"There is no volume '{name}', or it is being made or deleted: 'corfu volume list' lists the volumes.");

    /// <summary>Mounts a volume for writing, or a snapshot for reading. The volume's lock is held until the result is
    /// disposed, and ends by itself when this process dies (<see cref="SalusClientOptions.Lease"/>, 10 s).</summary>
    /// <param name="name"><c>volume</c>, or <c>volume@snapshot</c> for reading.</param>
    /// <exception cref="VolumeException">There is none, another process has it mounted, or its nodes do not
    /// answer.</exception>
    public async Task<IVolume> MountAsync(string name, CancellationToken cancellationToken = default) =>
        await (await FindVolumeAsync(name, cancellationToken)).MountAsync(cancellationToken);

    /// <summary>Takes a snapshot. The process that has the volume mounted takes it; where there is none, this one
    /// mounts it for the time.</summary>
    /// <exception cref="CorfuException">There is no such volume, the name is taken, or the log or the nodes do not
    /// answer.</exception>
    public async Task SnapshotAsync(string volume, string snapshot, CancellationToken cancellationToken = default)
    {
        if (await IsMountedAsync(volume, cancellationToken))
            await Log.Admin.SnapshotAsync(volume, snapshot, cancellationToken);
        else await Client.SnapshotAsync(volume, snapshot, cancellationToken);
    }

    /// <summary>Asks the stores that have something of the volume how their copies are.</summary>
    public async Task<ImmutableArray<StoreCopy>> CopiesAsync(
        VolumeId volume, CancellationToken cancellationToken = default)
    {
        var nodes = (await Log.Admin.NodesAsync(cancellationToken)).Stores.Values;
        var asked = nodes.OrderBy(static node => node.Endpoint).Select(async node =>
        {
            var info = await _transport.TryCallAsync(node.StoreAddress, new StoreInfoRequest(Epoch.None), s_limit,
                TimeProvider.System, cancellationToken);
            var regions = info is { IsOk: true } ? info.Regions.Where(region => region.Region.Volume == volume) : [];
            return new StoreCopy(node.Store, info is { IsOk: true },
                regions.Sum(static region => region.Damaged), regions.Sum(static region => region.Mended));
        });
        return [.. await Task.WhenAll(asked)];
    }

    public async ValueTask DisposeAsync()
    {
        await Log.DisposeAsync();
        _transport.Dispose();
        _tls?.Dispose();
    }

    private async Task<bool> IsMountedAsync(string volume, CancellationToken cancellationToken)
    {
        if (await Log.Map.Directory.FindAsync(volume, cancellationToken) is not { } entry) return false;
        try
        {
            var writer = await Log.Runtime.OpenAsync<TangoLock>(
                SalusVolume.LockOf(entry.Id), OpenMode.Create, cancellationToken);
            return (await writer.HolderAsync(cancellationToken)).Found;
        }
        catch (TangoException e)
        {
            throw new CorfuException($"The lock of volume {volume} cannot be read: {e.Message}", e);
        }
    }
}

/// <summary>A store's copies of a volume's regions.</summary>
/// <param name="Answers">False: the rest is not known.</param>
/// <param name="Damaged">Files and records that are damaged or missing there, and that no other store has given
/// yet.</param>
/// <param name="Mended">Files and records that other stores have given, since the process has started.</param>
public readonly record struct StoreCopy(StoreId Store, bool Answers, long Damaged, long Mended)
{
    /// <summary>A sentence for people; null: there is nothing to say.</summary>
    public string? Note => !Answers
        ? $"store {Store} does not answer: how its copies are is not known"
        : Damaged > 0
            ? $"store {Store}: {Damaged} damaged files or records, which come from other stores; {Mended} have come"
            : Mended > 0
                ? $"store {Store}: {Mended} damaged files or records have come whole from other stores"
                : null;
}
