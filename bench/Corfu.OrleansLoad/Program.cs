using System.CommandLine;
using Corfu;
using Corfu.Hosting;
using Corfu.Load;
using Corfu.OrleansLoad;
using Corfu.Peers;
using Orleans.Runtime;

var quick = new Option<bool>("--quick") { Description = "Two short rounds: whether it works, not how fast it is." };
var json = new Option<FileInfo?>("--json")
{
    Description = "Where the figures go. Default: orleans-load.json in the folder for temporary files.",
    HelpName = "FILE",
};
var root = new RootCommand("Corfu's Orleans providers beside the Redis ones: the same calls through Orleans.")
{
    quick, json, NodeProcessCommand.Create(), BareRoleCommand.Create(),
};
root.SetAction((parse, stop) => ProviderCampaign.RunAsync(
    parse.GetValue(quick) ? LoadPlan.Quick : LoadPlan.Full,
    parse.GetValue(json)?.FullName ?? Path.Combine(Path.GetTempPath(), "orleans-load.json"), stop));
try
{
    return await root.Parse(args).InvokeAsync(new InvocationConfiguration
    {
        EnableDefaultExceptionHandler = false,
        // Servers are stopped meanwhile.
        ProcessTerminationTimeout = TimeSpan.FromMinutes(1),
    });
}
catch (OperationCanceledException)
{
    await Console.Error.WriteLineAsync("Cancelled; the servers have been stopped.");
    return 130;
}
catch (Exception e) when (e is CorfuException or OrleansException or PeerException or NodeStartException
    or IOException or UnauthorizedAccessException)
{
    await Console.Error.WriteLineAsync($"error: {e.Message}");
    return 1;
}
