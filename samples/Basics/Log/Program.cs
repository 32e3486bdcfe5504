using System.Text;
using Corfu;
using Corfu.Client;
using Corfu.Hosting;

// The log by itself: entries in one order, each in any number of streams.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);

var orders = StreamId.FromName("orders");
var payments = StreamId.FromName("payments");

// An append that returns is on the disks of all replicas of its chain.
await AppendAsync("order 1: tea", orders);
await AppendAsync("order 2: coffee", orders);
await AppendAsync("order 1 is paid", orders, payments);

// A reader sees every entry of its stream that was acknowledged before, wherever it was written.
foreach (var (name, stream) in new[] { ("orders", orders), ("payments", payments) })
{
    var cursor = new StreamCursor(log, stream);
    await cursor.SyncAsync();
    while (await cursor.ReadNextAsync() is { } entry)
        Console.WriteLine($"{name}, position {entry.Position.Offset}: {Encoding.UTF8.GetString(entry.Payload.Span)}");
}

async Task AppendAsync(string text, params StreamId[] streams) =>
    (await log.AppendAsync(Encoding.UTF8.GetBytes(text), [.. streams])).Require();
