using System.Net;
using System.Net.Security;
using Corfu.Server;
using Salus.Coordination;
using Salus.Nbd;

namespace Salus.Hosting;

/// <summary>Serves volumes over NBD: drivers and listener in this process. A volume is mounted when its first client
/// comes.</summary>
public sealed class VolumeServer : IAsyncDisposable
{
    private const string Description = "a volume of Salus";

    private static readonly TimeSpan s_retry = TimeSpan.FromSeconds(1);

    private readonly SalusConnection _connection;
    private readonly NbdServer _server;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();
    private Task _following = Task.CompletedTask;

    private VolumeServer(SalusConnection connection, NbdServer server, ILogger logger) =>
        (_connection, _server, _logger) = (connection, server, logger);

    /// <summary>The address at which the server listens.</summary>
    public IPEndPoint EndPoint => _server.EndPoint;

    /// <exception cref="ArgumentException">An option is out of range.</exception>
    /// <exception cref="CorfuException">The log does not answer, or has no such volume or snapshot.</exception>
    /// <exception cref="ListenException">The port is occupied.</exception>
    public static async Task<VolumeServer> StartAsync(
        VolumeServerOptions options, CancellationToken cancellationToken = default)
    {
        if (options.Faults().ToList() is { Count: > 0 } faults) throw new ArgumentException(string.Join(' ', faults));
        var connection = await SalusConnection.OpenAsync(
            options.Connection, options.Client, options.ClientTls, options.Loggers, cancellationToken);
        try
        {
            var exports = ImmutableArray.CreateBuilder<NbdExport>();
            foreach (var name in options.Volumes)
                exports.Add(new NbdExport(
                    name, await connection.FindVolumeAsync(name, cancellationToken), Description));
            var nbd = await NbdServer.StartAsync(options.Listen, exports, options.Loggers, options.Nbd,
                options.Tls is { } tls ? () => ServerOf(tls) : null,
                cancellationToken: cancellationToken);
            var server = new VolumeServer(connection, nbd, options.Loggers.CreateLogger<VolumeServer>());
            if (options.Volumes.IsEmpty) server._following = LoopContext.Pool.RunAsync(server.FollowAsync);
            return server;
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }

    /// <summary>Lets commands under way end, makes everything acknowledged durable, and lets other processes mount the
    /// volumes.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _following;
        await _server.DisposeAsync();
        await _connection.DisposeAsync();
        _stop.Dispose();
    }

    // A caller has no right at the cluster's port, and so none to a disk. The options are those of one handshake.
    private static SslServerAuthenticationOptions ServerOf(ClusterTls tls)
    {
        var role = AccessRole.None;
        var server = tls.HttpServer(required: true, peer => role = peer.Principal.Role);
        var isTrusted = server.RemoteCertificateValidationCallback!;
        server.RemoteCertificateValidationCallback = (sender, certificate, chain, errors) =>
            isTrusted(sender, certificate, chain, errors) && role >= AccessRole.Client;
        return server;
    }

    private async Task FollowAsync()
    {
        var served = new Dictionary<string, VolumeId>();
        while (!_stop.IsCancellationRequested)
        {
            var view = _connection.Log.Map.View;
            try
            {
                await ServeAsync(view, served);
                await _connection.Log.Map.WaitAsync(view, _stop.Token);
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (CorfuException e)
            {
                SalusHostingLog.NotServed(_logger, e);
                await Task.Delay(s_retry, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private async Task ServeAsync(MapView view, Dictionary<string, VolumeId> served)
    {
        var wanted = ExportsIn(view);
        // A volume that took the name of another one is another export.
        foreach (var (name, id) in served.Where(own => wanted.GetValueOrDefault(own.Key) != own.Value).ToList())
        {
            await _server.RemoveAsync(name);
            served.Remove(name);
        }

        foreach (var (name, id) in wanted.Where(own => !served.ContainsKey(own.Key)))
        {
            if (await _connection.Client.FindAsync(name, _stop.Token) is not { } source) continue;
            _server.Add(new NbdExport(name, source, Description));
            served.Add(name, id);
        }
    }

    private static Dictionary<string, VolumeId> ExportsIn(MapView view)
    {
        var exports = new Dictionary<string, VolumeId>();
        foreach (var (name, entry) in view.Entries.Where(entry => entry.Value.Stage == VolumeStage.Ready))
        {
            exports.Add(name, entry.Id);
            foreach (var snapshot in view.Volumes.GetValueOrDefault(entry.Id)?.Head.Snapshots ?? [])
            {
                if (snapshot.State == SnapshotState.Complete) exports.Add($"{name}@{snapshot.Name}", entry.Id);
            }
        }

        return exports;
    }
}
