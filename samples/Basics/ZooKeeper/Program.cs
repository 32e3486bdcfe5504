using System.Net;
using System.Net.Sockets;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.ZooKeeper.Hosting;
using Tango;
using Tango.ZooKeeper;

// A front end of ZooKeeper's protocol within a program, and the program's own code on the same tree.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);
await using var tango = new TangoRuntime(log, ZooKeeperFrontEnd.RuntimeOptions);
await using var frontEnd = await ZooKeeperFrontEnd.StartAsync(
    tango, new ZooKeeperFrontEndOptions(new IPEndPoint(IPAddress.Loopback, 0)));

// Every client of ZooKeeper can use this address. The shortest request of the protocol asks whether the server runs.
using var client = new TcpClient();
await client.ConnectAsync(frontEnd.EndPoint);
await client.GetStream().WriteAsync("ruok"u8.ToArray());
using var reader = new StreamReader(client.GetStream());
Console.WriteLine(await reader.ReadToEndAsync());

// Code needs no client: the tree is an object of the log.
var tree = await tango.OpenAsync<ZooKeeperTree>("zookeeper/main");
var zxid = (await tree.ReadAsync()).LastZxid;
await SendAsync(new CreateOp("/limit", "10"u8.ToArray(), AclList.Open.Entries, CreateFlags.Persistent));
await SendAsync(new SetDataOp("/limit", "20"u8.ToArray(), Version: 0));
await SendAsync(new SetDataOp("/limit", "30"u8.ToArray(), Version: 0));

// A feed tells every change of any client once, in order, also those that came while the program was away.
await foreach (var element in tango.History.ReadTreeAsync("main", after: zxid).Take(4))
{
    // Without an effect: the state to begin with.
    foreach (var change in element.Effect?.Changes ?? [])
        Console.WriteLine($"{change.Kind} {change.Path}");
    zxid = element.Zxid;
}

async Task SendAsync(TreeOp op)
{
    var header = new RequestHeader(0, 0, 0, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(), []);
    Console.WriteLine($"{op.GetType().Name}: {(await tree.UpdateAsync(new RequestRecord(header, op))).Error}");
}
