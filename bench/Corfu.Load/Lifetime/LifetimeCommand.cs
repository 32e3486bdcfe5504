using System.CommandLine;
using Corfu.Client;
using Corfu.Hosting;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary><c>lifetime</c>: a service that outlives its disk. Many updates of few keys, from a client that is killed
/// again and again, beside objects that hardly change.</summary>
internal static class LifetimeCommand
{
    public static Command Create()
    {
        var updates = new Option<long>("--updates") { DefaultValueFactory = _ => 3_000_000 };
        var keys = new Option<int>("--keys") { DefaultValueFactory = _ => 20_000 };
        var idle = new Option<int>("--idle")
        {
            Description = "Objects that the client has open and does not change.",
            DefaultValueFactory = _ => 100
        };
        var unhosted = new Option<int>("--unhosted")
        {
            Description = "Objects that no client has open. Nothing checkpoints them: they hold the log.",
            DefaultValueFactory = _ => 0
        };
        var kill = new Option<double>("--kill-every")
        {
            Description = "Seconds from the start of the client to its end by SIGKILL.",
            DefaultValueFactory = _ => 20
        };
        var directory = new Option<DirectoryInfo?>("--dir", "-d");
        var command = new Command("lifetime", "Disk, memory and reopening of a service that runs for long.")
        {
            updates, keys, idle, unhosted, kill, directory,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            using var folder = new WorkFolder(result.GetValue(directory));
            var options = new LifetimeOptions(
                result.GetValue(updates), result.GetValue(keys), result.GetValue(idle), result.GetValue(unhosted),
                TimeSpan.FromSeconds(result.GetValue(kill)));
            Console.WriteLine(
                await RunAsync(Path.Combine(folder.Path, "cluster"), options, cancellationToken));
            return 0;
        });
        return command;
    }

    private static async Task<string> RunAsync(string folder, LifetimeOptions options,
        CancellationToken cancellationToken)
    {
        var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
        var state = await processes.UpWholeAsync(folder, new ClusterShape { Units = 3, Replicas = 2 },
            cancellationToken);
        try
        {
            await CreateAsync(state.ConnectionString, options, cancellationToken);
            var run = new LifetimeRun(state.ConnectionString, folder, options);
            await run.WriteAsync(cancellationToken);
            return await run.ReportAsync(cancellationToken);
        }
        finally
        {
            await processes.DownAsync(folder, CancellationToken.None);
        }
    }

    private static async Task CreateAsync(string connectionString, LifetimeOptions options,
        CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(connectionString, cancellationToken: cancellationToken);
        await using var runtime = new TangoRuntime(client);
        for (var i = 0; i < options.Idle; i++) await CreateOneAsync(LifetimeWriter.IdleName(i));
        for (var i = 0; i < options.Unhosted; i++) await CreateOneAsync($"unhosted {i}");

        async Task CreateOneAsync(string name) =>
            await (await runtime.OpenAsync<TangoRegister<string>>(name, OpenMode.Create, cancellationToken)).WriteAsync(
                name, cancellationToken);
    }
}
