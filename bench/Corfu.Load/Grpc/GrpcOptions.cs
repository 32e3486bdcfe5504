using System.CommandLine;

namespace Corfu.Load;

/// <summary>The options of <c>append --grpc</c>.</summary>
internal sealed class GrpcOptions
{
    public Option<bool> Grpc { get; } = new("--grpc")
    {
        Description = "Append through a gRPC front end, beside the native client and a bare gRPC echo. An operation is "
            + "then a message, and --in-flight counts messages.",
    };

    public Option<int> Batch { get; } = LoadOptions.Positive("--batch", "Entries of a gRPC message.", 1);

    public Option<Uri?> FrontEnd { get; } = new("--front-end")
    {
        Description = "A front end of the cluster that --connect names (default: a process of its own).",
        HelpName = "http://HOST:PORT",
        CustomParser = result =>
        {
            if (Uri.TryCreate(result.Tokens[0].Value, UriKind.Absolute, out var uri)) return uri;
            result.AddError($"--front-end is no address: {result.Tokens[0].Value}");
            return null;
        },
    };

    public void AddTo(Command command)
    {
        foreach (var option in new Option[] { Grpc, Batch, FrontEnd }) command.Add(option);
        command.Validators.Add(result =>
        {
            if (result.GetValue(Grpc)) return;
            foreach (var option in new Option[] { Batch, FrontEnd })
                if (result.GetResult(option) is { Implicit: false }) result.AddError($"{option.Name} needs --grpc.");
        });
    }

    public async Task<int> RunAsync(ParseResult result, LoadOptions options, CancellationToken cancellationToken)
    {
        using var folder = new WorkFolder(result.GetValue(options.Directory));
        await using var cluster = await LoadCluster.StartAsync(result, options, folder.Path, cancellationToken);
        var campaign = new GrpcCampaign(options.Parameters(result, cluster.Description), result.GetValue(Batch),
            result.GetValue(options.Rounds), folder.Path);
        var report = await campaign.RunAsync(cluster.ConnectionString, result.GetValue(FrontEnd));
        return await ReportOutput.WriteAsync(result, options, report);
    }
}
