using System.CommandLine;
using Corfu;
using Corfu.Load;
using Corfu.Peers;
using Corfu.Protocol;

var root = new RootCommand("Corfu beside redis, etcd and ZooKeeper: the same durable writes and linearizable reads.")
{
    NodeProcessCommand.Create(),
    BareRoleCommand.Create(),
};
PeersCommand.AddTo(root);
try
{
    return await root.Parse(args).InvokeAsync(new InvocationConfiguration
    {
        EnableDefaultExceptionHandler = false,
        // Servers are stopped meanwhile.
        ProcessTerminationTimeout = TimeSpan.FromMinutes(1)
    });
}
catch (OperationCanceledException)
{
    await Console.Error.WriteLineAsync("Cancelled; the servers have been stopped.");
    return 130;
}
catch (Exception e) when (e is CorfuException or PeerException or IOException or UnauthorizedAccessException)
{
    await Console.Error.WriteLineAsync(e.Message);
    return 1;
}
