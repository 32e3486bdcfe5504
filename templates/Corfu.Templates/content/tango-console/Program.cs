using Corfu.Client;
using Corfu.Hosting;
using Tango;
using TangoConsole1;

// Without arguments: a cluster inside this process, with its data in a folder beside it.
// Otherwise a running one: dotnet run -- corfu://host:port,...
await using var cluster = args.Length > 0
    ? null
    : await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Folder = "cluster" });
await using var log = await CorfuClient.ConnectAsync(cluster?.ConnectionString ?? args[0]);
await using var tango = new TangoRuntime(log);

var context = await GreetingsContext.OpenAsync(tango);
var run = await context.Runs.IncrementAsync();
await context.Greetings.SetAsync(Environment.UserName, $"Hello at {DateTime.UtcNow:u}");
Console.WriteLine($"run {run}: {await context.Greetings.CountAsync()} users have said hello");
