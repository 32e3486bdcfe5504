using System.Globalization;
using Corfu.Load.Suite;

namespace Corfu.Load;

/// <summary>Servers of other projects in the foreground on loopback, where they are installed.</summary>
internal sealed class PeerServers : IAsyncDisposable
{
    public const string Etcd = "etcd";

    private readonly List<ServerProcess> _servers = [];
    private readonly List<PeerServer> _running = [];
    private readonly List<string> _missing = [];

    private PeerServers()
    {
    }

    public IReadOnlyList<PeerServer> Running => _running;

    /// <summary>A sentence for each that is not installed.</summary>
    public IReadOnlyList<string> Missing => _missing;

    /// <summary>memcached, and redis with syncs and without.</summary>
    public static Task<PeerServers> StartAsync(string folder, CancellationToken cancellationToken) =>
        StartAsync(async servers =>
        {
            await servers.StartTextAsync("memcached", "memcached", folder, port =>
                ["-l", "127.0.0.1", "-p", port, "-U", "0", "-m", "256", "-t", "2", "-u", Environment.UserName],
                cancellationToken);
            foreach (var sync in (string[])["always", "no"])
                await servers.StartRedisAsync(folder, sync, cancellationToken);
        });

    /// <summary>etcd and redis, which sync before they answer.</summary>
    /// <param name="section">Is told what is skipped.</param>
    public static Task<PeerServers> StartDurableAsync(
        string folder, FigureSection section, CancellationToken cancellationToken) =>
        StartAsync(async servers =>
        {
            await servers.StartEtcdAsync(folder, cancellationToken);
            await servers.StartRedisAsync(folder, "always", cancellationToken);
        }, section);

    /// <param name="section">Is told if etcd is skipped.</param>
    public static Task<PeerServers> StartEtcdAsync(
        string folder, FigureSection section, CancellationToken cancellationToken) =>
        StartAsync(servers => servers.StartEtcdAsync(folder, cancellationToken), section);

    public async ValueTask DisposeAsync()
    {
        foreach (var server in _servers) await server.DisposeAsync();
    }

    private static async Task<PeerServers> StartAsync(Func<PeerServers, Task> start, FigureSection? section = null)
    {
        var servers = new PeerServers();
        try
        {
            await start(servers);
            foreach (var missing in section is null ? [] : servers._missing)
            {
                section!.Note($"Skipped: {missing}.");
                Console.WriteLine($"{section.Name}: skipped: {missing}");
            }

            return servers;
        }
        catch
        {
            await servers.DisposeAsync();
            throw;
        }
    }

    private Task StartRedisAsync(string folder, string sync, CancellationToken cancellationToken)
    {
        var data = NewFolder(folder, $"redis-{sync}");
        return StartTextAsync("redis", $"redis, appendfsync {sync}", data, port =>
            [
                "--bind", "127.0.0.1", "--port", port, "--dir", data, "--appendonly", "yes",
                "--appendfsync", sync, "--save", "", "--daemonize", "no",
            ], cancellationToken);
    }

    private async Task StartTextAsync(string dialect, string name, string folder, Func<string, string[]> arguments,
        CancellationToken cancellationToken)
    {
        if (Find(dialect == "redis" ? "redis-server" : dialect) is not { } program) return;
        var port = FreePort.Take(1)[0];
        var text = port.ToString(CultureInfo.InvariantCulture);
        var server = Start(name, folder, [program, .. arguments(text)]);
        await using var connection = await server.ConnectAsync(
            _ => TextConnection.ConnectAsync("127.0.0.1", port, TextDialect.Named(dialect)), cancellationToken);
        _running.Add(new PeerServer(name, $"{dialect}/127.0.0.1:{text}", server.Id));
    }

    // A cluster of one member, which syncs its write-ahead log before it answers.
    private async Task StartEtcdAsync(string folder, CancellationToken cancellationToken)
    {
        if (Find(Etcd) is not { } program) return;
        var data = NewFolder(folder, Etcd);
        var ports = FreePort.Take(2);
        var client = string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{ports[0]}");
        var peer = string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{ports[1]}");
        var server = Start(Etcd, data,
            [
                program, "--name", "load", "--data-dir", data, "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", "load=" + peer, "--logger", "zap", "--log-level", "warn",
            ]);
        await server.ConnectAsync(async token =>
        {
            await EtcdWorkload.ProbeAsync(client, token);
            return true;
        }, cancellationToken);
        _running.Add(new PeerServer(Etcd, client, server.Id));
    }

    private string? Find(string file)
    {
        var program = Programs.Find(file);
        var missing = $"{file} is not installed on this machine";
        if (program is null && !_missing.Contains(missing)) _missing.Add(missing);
        return program;
    }

    private ServerProcess Start(string name, string folder, ReadOnlySpan<string> command)
    {
        var server = ServerProcess.Start(name, folder, command);
        _servers.Add(server);
        return server;
    }

    // Sections of one run each start theirs.
    private static string NewFolder(string folder, string name) =>
        Directory.CreateDirectory(Path.Combine(folder, $"{name}-{Guid.NewGuid():N}")).FullName;
}

/// <summary>A server that runs.</summary>
/// <param name="Target">As <see cref="TextWorkload"/> takes it, or <see cref="EtcdWorkload"/>.</param>
internal sealed record PeerServer(string Name, string Target, int ProcessId)
{
    public double ProcessorSeconds() => ServicePoints.ProcessorSeconds(ProcessId);

    /// <summary>The point of this server.</summary>
    public PointCase Watched(PointCase point) => point with { Target = Target, Servers = ProcessorSeconds };
}
