using System.CommandLine;
using BankSample.Processes;
using BankSample.Run;
using Corfu;
using Corfu.Client;

namespace BankSample;

/// <summary>The command line.</summary>
public static class BankCommand
{
    private const string Description =
        """
        A bank whose accounts are a replicated state machine: three replica processes over one shared log. Clients move
        money while replicas are killed; every transfer runs once.
        """;

    /// <returns>0; 1: the bank is wrong, or no cluster serves; 2: wrong arguments; 130: stopped by a signal.</returns>
    public static Task<int> InvokeAsync(string[] args, TextWriter errors) => SampleCommand.InvokeAsync(
        Create(), args, errors, static e => e is CorfuException or BankException or ChildProcessException);

    private static RootCommand Create()
    {
        Option<int> transfers = SampleCommand.Count(
            "--transfers", 1, "Transfers of all clients together. Default 2,000.", 2_000);
        Option<int> kills = SampleCommand.Count("--kills", 0, "How often a replica process is killed. Default 3.", 3);
        Option<int> accounts = SampleCommand.Count("--accounts", 1, "Accounts. Default 50.", 50);
        Option<int> clients = SampleCommand.Count("--clients", 1, "Clients, each with a session. Default 4.", 4);
        Option<int> seed = SampleCommand.Count(
            "--seed", 0, "Chooses accounts, amounts and the replicas that are killed. Default 1.", 1);
        var connect = new Option<string?>("--connect")
        {
            Description = "A running cluster: corfu://host:port,... Without it an embedded one is started.",
            HelpName = "URL",
        };
        connect.Validators.Add(result =>
        {
            if (result.GetValue(connect) is { } url && !ConnectionString.TryParse(url, out _, out string? fault))
                result.AddError($"--connect: {fault}");
        });
        var root = new RootCommand(Description) { transfers, kills, accounts, clients, seed, connect, Replica() };
        root.SetAction(async (parse, cancellationToken) =>
        {
            var plan = new BankPlan(parse.GetValue(transfers), parse.GetValue(kills), parse.GetValue(accounts),
                parse.GetValue(clients), parse.GetValue(seed));
            return await BankRun.RunAsync(plan, parse.GetValue(connect), cancellationToken)
                ? SampleCommand.Success
                : SampleCommand.Wrong;
        });
        return root;
    }

    private static Command Replica()
    {
        var connection = new Argument<string>("url");
        var replica = new Command(ReplicaMode.Name) { connection };
        replica.Hidden = true;
        replica.SetAction((parse, cancellationToken) =>
            ReplicaMode.RunAsync(parse.GetRequiredValue(connection), cancellationToken));
        return replica;
    }
}
