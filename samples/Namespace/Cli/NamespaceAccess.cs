using System.CommandLine;
using NamespaceSample.App;
using NamespaceSample.Processes;
using NamespaceSample.Service;

namespace NamespaceSample.Cli;

/// <summary>The options that say where the namespace is, and which part of it this process hosts.</summary>
internal sealed class NamespaceAccess
{
    private readonly Option<string> _connect = NamespaceCommand.ConnectOption(required: false);

    private readonly Option<string?> _data = new("--data")
    {
        Description = "Keep the embedded cluster in this folder. Without it, it is gone at the end.",
        HelpName = "DIR",
    };

    private readonly Option<int?> _partition = new("--partition")
    {
        Description = "Host this partition only: another process hosts the other one. Without it both are hosted.",
        HelpName = "0|1",
    };

    public NamespaceAccess(Command command)
    {
        command.Options.Add(_connect);
        command.Options.Add(_data);
        command.Options.Add(_partition);
        command.Validators.Add(result =>
        {
            if (result.GetResult(_connect) is not null && result.GetResult(_data) is not null)
                result.AddError("--data belongs to an embedded cluster; with --connect the cluster keeps the state.");
        });
        _partition.Validators.Add(result =>
        {
            if (result.Tokens is [{ Value: var text }] && int.TryParse(text, out int index)
                && index is < 0 or >= PartitionMap.Count)
                result.AddError($"--partition must be 0 to {PartitionMap.Count - 1}.");
        });
    }

    /// <summary>Runs the command with the namespace open.</summary>
    public Task<int> RunAsync(
        ParseResult parse, Func<NamespaceService, CancellationToken, Task<int>> command) =>
        Launcher.RunAsync(async stop =>
        {
            int[] hosted = parse.GetValue(_partition) is { } one ? [one] : [.. Enumerable.Range(0, PartitionMap.Count)];
            await using LogSource source = await LogSource.OpenAsync(
                parse.GetValue(_connect), parse.GetValue(_data), stop);
            await using NamespaceClient client = await NamespaceClient.ConnectAsync(
                source.ConnectionString, hosted, NamespaceService.Options, stop);
            return await command(client.Service, stop);
        });
}
