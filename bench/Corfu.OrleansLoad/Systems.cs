using System.Globalization;
using Corfu.Hosting;
using Corfu.Load;
using Corfu.Peers;
using Microsoft.Extensions.Hosting;
using Orleans.Hosting;
using StackExchange.Redis;

namespace Corfu.OrleansLoad;

/// <summary>The compared systems: servers of their own, and a silo on their providers.</summary>
internal static class Systems
{
    private const string RedisProgram = "redis-server";
    private static readonly ClusterShape s_shape = new() { Units = 3, Replicas = 2 };

    /// <summary>A cluster of processes: three units, two copies of everything, synced before the answer.</summary>
    public static async Task<LoadSilo> StartCorfuAsync(string folder, CancellationToken cancellationToken)
    {
        var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
        var servers = new Servers(() => processes.DownAsync(folder));
        try
        {
            ClusterState state = await processes.UpWholeAsync(folder, s_shape, cancellationToken);
            return await LoadSilo.StartAsync(
                "Corfu 3x2",
                silo => silo.UseCorfuClustering(state.ConnectionString).AddCorfuGrainStorage(LoadSilo.Storage),
                servers, cancellationToken);
        }
        catch
        {
            await servers.DisposeAsync();
            throw;
        }
    }

    /// <summary>Why there is no redis here; null if there is one.</summary>
    public static string? RedisMissing =>
        Programs.Find(RedisProgram) is null ? $"{RedisProgram} is not installed" : null;

    /// <summary>Starts one server that syncs its append-only file before it answers.</summary>
    public static async Task<LoadSilo> StartRedisAsync(string folder, CancellationToken cancellationToken)
    {
        string port = FreePort.Take(1)[0].ToString(CultureInfo.InvariantCulture);
        var server = ServerProcess.Start(
            "redis", folder, Programs.Find(RedisProgram)!, "--bind", "127.0.0.1", "--port", port, "--dir", folder,
            "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--daemonize", "no");
        try
        {
            ConfigurationOptions options = ConfigurationOptions.Parse($"127.0.0.1:{port}");
            await using (await server.ConnectAsync(
                token => ConnectionMultiplexer.ConnectAsync(options).WaitAsync(token), cancellationToken))
            {
                // The server answers.
            }

            return await LoadSilo.StartAsync(
                "redis",
                silo => silo.UseRedisClustering(redis => redis.ConfigurationOptions = options)
                    .AddRedisGrainStorage(LoadSilo.Storage, redis => redis.ConfigurationOptions = options),
                server, cancellationToken);
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    private sealed class Servers(Func<Task> stop) : IAsyncDisposable
    {
        public async ValueTask DisposeAsync() => await stop();
    }
}
