using System.Globalization;
using Corfu.Load;

namespace Corfu.Peers;

/// <summary>A ZooKeeper server without an ensemble, which syncs its transaction log before it answers.</summary>
internal sealed class ZooKeeperTarget : ITarget
{
    private const string Jars = "/usr/share/java";
    private const string Jar = Jars + "/zookeeper.jar";

    // Logger of the server, with warnings and errors, where Debian's slf4j is complete. Java skips a file that is not
    // there.
    private const string Logger = Jars + "/slf4j-simple.jar";
    private const string LogLevel = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";

    // As Debian's and the project's own start scripts.
    private const string Heap = "-Xmx1000m";

    // A read is two requests: 512 in flight are more than the default limit of 1000, at which a server stops reading.
    private const string Outstanding = "-Dzookeeper.globalOutstandingLimit=4096";

    private readonly string? _java = Programs.Find("java");

    public TargetInfo Info { get; } = new(
        "ZooKeeper", 1, 1, "globalOutstandingLimit=4096 (a read is two requests)",
        "setData of the caller's node, synced before the answer",
        "sync and getData of one node, sent together (getData alone may be stale in an ensemble)",
        "a pipelining client of this program, one session");

    public bool IsPeer => true;

    public string? Missing =>
        !File.Exists(Jar) ? "ZooKeeper is not installed (" + Jar + ")"
        : _java is null ? "java is not installed"
        : null;

    public Task<string> VersionAsync()
    {
        var jar = Directory.EnumerateFiles(Jars, "zookeeper-*.jar").Select(Path.GetFileNameWithoutExtension)
            .FirstOrDefault(name => char.IsAsciiDigit(name!["zookeeper-".Length]));
        return Task.FromResult(jar?["zookeeper-".Length..] ?? "unknown");
    }

    public async Task<IRunningTarget> StartAsync(string folder, LoadShape load, CancellationToken cancellationToken)
    {
        var port = FreePort.Take(1)[0];
        var config = Path.Combine(folder, "zoo.cfg");
        await File.WriteAllTextAsync(config, string.Create(CultureInfo.InvariantCulture,
            $"""
            tickTime=2000
            dataDir={folder}
            clientPortAddress=127.0.0.1
            clientPort={port}
            admin.enableServer=false

            """), cancellationToken);
        var server = ServerProcess.Start(Info.Name, folder, _java!, Heap, Outstanding, LogLevel,
            "-cp", Jar + ":" + Logger, "org.apache.zookeeper.server.ZooKeeperServerMain", config);
        return await ServerTarget.StartAsync(server, async () =>
        {
            var connection = await server.ConnectAsync(
                token => ZooKeeperConnection.ConnectAsync(port, token), cancellationToken);
            return new ServerTarget(server, connection, await PrepareAsync(connection, load));
        });
    }

    private static async Task<IReadOnlyList<Operation>> PrepareAsync(ZooKeeperConnection connection, LoadShape load)
    {
        var paths = Array.ConvertAll(Values.Keys(load), key => "/" + key);
        const string ReadPath = "/" + Values.ReadKey;
        var value = Values.Value(load);
        await Task.WhenAll([.. paths.Append(ReadPath).Select(path => connection.CreateAsync(path, value).AsTask())]);
        return
        [
            new Operation(Operation.Write, true, caller => connection.SetDataAsync(paths[caller], value)),
            new Operation(Operation.Read, false, async _ =>
            {
                // Requests of a session are answered in order, so the data is not older than the sync.
                var sync = connection.SyncAsync(ReadPath);
                var data = connection.GetDataAsync(ReadPath);
                await sync;
                Values.Require((await data).Length, load);
            }),
        ];
    }
}
