using System.Globalization;
using Corfu.Load;
using Corfu.Peers.Etcd;
using Google.Protobuf;
using Grpc.Net.Client;

namespace Corfu.Peers;

/// <summary>An etcd cluster of one member, which syncs its write-ahead log before it answers.</summary>
internal sealed class EtcdTarget : ITarget
{
    private const string Program = "etcd";

    private readonly string? _program = Programs.Find(Program);

    public TargetInfo Info { get; } = new(
        "etcd", 1, 1, "none",
        "Put of the caller's key, committed by Raft in a cluster of one and synced before the answer",
        "linearizable Range of one key: the leader confirms its term first",
        "Grpc.Net.Client, one HTTP/2 connection");

    public bool IsPeer => true;

    public string? Missing => _program is null ? $"{Program} is not installed" : null;

    public Task<string> VersionAsync() => Programs.VersionAsync(_program!);

    public Task<IRunningTarget> StartAsync(string folder, LoadShape load, CancellationToken cancellationToken)
    {
        var ports = FreePort.Take(2);
        var client = string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{ports[0]}");
        var peer = string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{ports[1]}");
        var server = ServerProcess.Start(Info.Name, folder, _program!, "--name", "peers", "--data-dir", folder,
            "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer, "--initial-cluster", "peers=" + peer, "--logger", "zap",
            "--log-level", "warn");
        return ServerTarget.StartAsync(server, async () =>
        {
            var channel = await server.ConnectAsync(token => ConnectAsync(client, load, token), cancellationToken);
            var calls = new KV.KVClient(channel);
            var value = ByteString.CopyFrom(Values.Value(load));
            var keys = Array.ConvertAll(Values.Keys(load), ByteString.CopyFromUtf8);
            var readKey = ByteString.CopyFromUtf8(Values.ReadKey);
            return new ServerTarget(server, new Connection(channel),
            [
                new Operation(Operation.Write, true, async caller =>
                    await calls.PutAsync(new PutRequest { Key = keys[caller], Value = value })),
                new Operation(Operation.Read, false, async _ =>
                {
                    var answer = await calls.RangeAsync(new RangeRequest { Key = readKey });
                    Values.Require(answer.Kvs.Count == 1 ? answer.Kvs[0].Value.Length : 0, load);
                }),
            ]);
        });
    }

    private static async Task<GrpcChannel> ConnectAsync(string address, LoadShape load,
        CancellationToken cancellationToken)
    {
        var channel = GrpcChannel.ForAddress(address,
            new GrpcChannelOptions
            {
                HttpHandler = new SocketsHttpHandler { EnableMultipleHttp2Connections = false },
                DisposeHttpClient = true
            });
        try
        {
            await new KV.KVClient(channel).PutAsync(
                new PutRequest
                {
                    Key = ByteString.CopyFromUtf8(Values.ReadKey),
                    Value = ByteString.CopyFrom(Values.Value(load))
                },
                cancellationToken: cancellationToken);
            return channel;
        }
        catch
        {
            channel.Dispose();
            throw;
        }
    }

    private sealed class Connection(GrpcChannel channel) : IAsyncDisposable
    {
        public ValueTask DisposeAsync()
        {
            channel.Dispose();
            return default;
        }
    }
}
