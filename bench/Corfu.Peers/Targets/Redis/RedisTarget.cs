using System.Globalization;
using Corfu.Load;
using StackExchange.Redis;

namespace Corfu.Peers;

/// <summary>A redis server that syncs its append-only file before it answers.</summary>
internal sealed class RedisTarget : ITarget
{
    private const string Program = "redis-server";
    private const int TimeoutMilliseconds = 30_000;

    private readonly string? _program = Programs.Find(Program);

    public TargetInfo Info { get; } = new(
        "redis", 1, 1, "appendonly yes, appendfsync always, no snapshots",
        "SET of the caller's key, synced before the answer (to replicas it would be sent afterwards)",
        "GET from the one server", "StackExchange.Redis, one connection for commands");

    public bool IsPeer => true;

    public string? Missing => _program is null ? $"{Program} is not installed" : null;

    public Task<string> VersionAsync() => Programs.VersionAsync(_program!);

    public Task<IRunningTarget> StartAsync(string folder, LoadShape load, CancellationToken cancellationToken)
    {
        var port = FreePort.Take(1)[0].ToString(CultureInfo.InvariantCulture);
        var server = ServerProcess.Start(Info.Name, folder, _program!, "--bind", "127.0.0.1", "--port", port,
            "--dir", folder, "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--daemonize", "no");
        return ServerTarget.StartAsync(server, async () =>
        {
            var options = new ConfigurationOptions
            {
                EndPoints = { { "127.0.0.1", int.Parse(port, CultureInfo.InvariantCulture) } },
                AbortOnConnectFail = true,
                ConnectRetry = 0,
                AsyncTimeout = TimeoutMilliseconds,
                SyncTimeout = TimeoutMilliseconds,
            };
            var connection = await server.ConnectAsync(
                token => ConnectionMultiplexer.ConnectAsync(options).WaitAsync(token), cancellationToken);
            var database = connection.GetDatabase();
            var keys = Array.ConvertAll(Values.Keys(load), key => (RedisKey)key);
            RedisKey readKey = Values.ReadKey;
            RedisValue value = Values.Value(load);
            await SetAsync(database, readKey, value);
            return new ServerTarget(server, connection,
            [
                new Operation(Operation.Write, true, caller => SetAsync(database, keys[caller], value)),
                new Operation(Operation.Read, false, async _ =>
                    Values.Require((int)(await database.StringGetAsync(readKey)).Length(), load)),
            ]);
        });
    }

    private static async ValueTask SetAsync(IDatabase database, RedisKey key, RedisValue value)
    {
        if (!await database.StringSetAsync(key, value)) throw new PeerException("redis refused a SET.");
    }
}
