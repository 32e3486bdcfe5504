using System.Globalization;

namespace Corfu.Load;

/// <summary>memcached and redis in the foreground on loopback, where they are installed.</summary>
internal sealed class PeerServers : IAsyncDisposable
{
    private readonly List<ServerProcess> _servers = [];
    private readonly List<(string Name, string Target)> _running = [];
    private readonly List<string> _missing = [];

    private PeerServers()
    {
    }

    /// <summary>Servers with their addresses, as <see cref="TextWorkload"/> takes them.</summary>
    public IReadOnlyList<(string Name, string Target)> Running => _running;

    /// <summary>A sentence for each that is not installed.</summary>
    public IReadOnlyList<string> Missing => _missing;

    public static async Task<PeerServers> StartAsync(string folder, CancellationToken cancellationToken)
    {
        var servers = new PeerServers();
        try
        {
            await servers.StartAsync("memcached", "memcached", folder, port =>
                ["-l", "127.0.0.1", "-p", port, "-U", "0", "-m", "256", "-t", "2", "-u", Environment.UserName],
                cancellationToken);
            foreach (var sync in (string[])["always", "no"])
            {
                var data = Directory.CreateDirectory(Path.Combine(folder, $"redis-{sync}")).FullName;
                await servers.StartAsync("redis", $"redis, appendfsync {sync}", data, port =>
                    [
                        "--bind", "127.0.0.1", "--port", port, "--dir", data, "--appendonly", "yes",
                        "--appendfsync", sync, "--save", "", "--daemonize", "no",
                    ], cancellationToken);
            }

            return servers;
        }
        catch
        {
            await servers.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var server in _servers) await server.DisposeAsync();
    }

    private async Task StartAsync(string dialect, string name, string folder, Func<string, string[]> arguments,
        CancellationToken cancellationToken)
    {
        var file = dialect == "redis" ? "redis-server" : dialect;
        if (Programs.Find(file) is not { } program)
        {
            var missing = $"{file} is not installed on this machine";
            if (!_missing.Contains(missing)) _missing.Add(missing);
            return;
        }

        var port = FreePort.Take(1)[0];
        var text = port.ToString(CultureInfo.InvariantCulture);
        var server = ServerProcess.Start(name, folder, [program, .. arguments(text)]);
        _servers.Add(server);
        await using var connection = await server.ConnectAsync(
            _ => TextConnection.ConnectAsync("127.0.0.1", port, TextDialect.Named(dialect)), cancellationToken);
        _running.Add((name, $"{dialect}/127.0.0.1:{text}"));
    }
}
