using System.CommandLine;
using Corfu.Hosting;

namespace Corfu.Load;

/// <summary><c>append</c>, <c>check</c> and <c>tx</c>: load on a cluster of processes.</summary>
internal static class ClusterCommands
{
    public static Command Append() => Create(
        "append", "Durable appends through the client, each acknowledged by all replicas of its chain.",
        WorkloadKind.Append, disk: true, new GrpcOptions());

    public static Command Check() =>
        Create("check", "Linearizable checks of the log's tail.", WorkloadKind.Check, disk: false);

    public static Command Transaction() => Create(
        "tx", "Tango transactions: transfers between two of ten thousand keys, retried until committed.",
        WorkloadKind.Transaction, disk: true);

    private static Command Create(string name, string description, WorkloadKind kind, bool disk,
        GrpcOptions? grpc = null)
    {
        var options = new LoadOptions();
        var command = new Command(name, description);
        options.AddCommon(command);
        options.AddCluster(command);
        grpc?.AddTo(command);
        command.SetAction(async (result, cancellationToken) =>
        {
            if (grpc is not null && result.GetValue(grpc.Grpc))
                return await grpc.RunAsync(result, options, cancellationToken);
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            await using var cluster = await LoadCluster.StartAsync(result, options, folder.Path, cancellationToken);
            var campaign = new Campaign(options.Parameters(result, cluster.Description),
                result.GetValue(options.Rounds), folder.Path);
            var report = await campaign.RunAsync(name, kind, cluster.ConnectionString, disk,
                result.GetValue(options.Fio));
            return await ReportOutput.WriteAsync(result, options, report);
        });
        return command;
    }
}
