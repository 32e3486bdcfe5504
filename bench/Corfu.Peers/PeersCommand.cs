using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Corfu.Load;

namespace Corfu.Peers;

/// <summary>The comparison: what it takes, what it writes.</summary>
internal static class PeersCommand
{
    public static void AddTo(RootCommand root)
    {
        var quick = new Option<bool>("--quick")
        {
            Description = "One short round on servers that are hardly warm: shows that everything works."
        };
        var rounds = new Option<int?>("--rounds")
        {
            Description = "Rounds; the median of each figure counts.",
            HelpName = "N"
        };
        var seconds = new Option<double?>("--seconds")
        {
            Description = "Length of one measurement.",
            HelpName = "S"
        };
        var only = new Option<string[]>("--only")
        {
            Description = "Only these systems, by the beginning of their names.",
            HelpName = "NAME",
            AllowMultipleArgumentsPerToken = true
        };
        var directory = new Option<DirectoryInfo?>("--dir")
        {
            Description = "Where the servers keep their data (default: a temporary folder)."
        };
        var output = new Option<DirectoryInfo>("--out")
        {
            Description = "Where peers.json and peers.md are written.",
            DefaultValueFactory = _ => new DirectoryInfo(Path.Combine("artifacts", "peers"))
        };
        var named = new Option<string>("--command") { Hidden = true, DefaultValueFactory = _ => "Corfu.Peers" };
        rounds.Validators.Add(result => AtLeast(result.GetValueOrDefault<int?>() ?? 1, 1, "--rounds", result.AddError));
        seconds.Validators.Add(
            result => AtLeast(result.GetValueOrDefault<double?>() ?? 1, 0.1, "--seconds", result.AddError));
        foreach (var option in new Option[] { quick, rounds, seconds, only, directory, output, named })
            root.Add(option);
        root.SetAction(async (result, cancellationToken) =>
        {
            var plan = result.GetValue(quick) ? RunPlan.Quick : RunPlan.Full;
            plan = plan with
            {
                Rounds = result.GetValue(rounds) ?? plan.Rounds,
                Seconds = result.GetValue(seconds) ?? plan.Seconds
            };
            using var folder = new WorkFolder(result.GetValue(directory));
            return await RunAsync(plan, result.GetValue(only) ?? [], folder.Path, result.GetRequiredValue(output),
                result.GetRequiredValue(named), cancellationToken);
        });
    }

    private static async Task<int> RunAsync(RunPlan plan, string[] only, string folder, DirectoryInfo output,
        string command, CancellationToken cancellationToken)
    {
        ITarget[] all =
            [new RedisTarget(), new EtcdTarget(), new ZooKeeperTarget(), new OwnTarget(1, 1), new OwnTarget(3, 2)];
        var wanted = all.Where(target => only.Length == 0 || only.Any(
            name => target.Info.Name.StartsWith(name, StringComparison.OrdinalIgnoreCase))).ToArray();
        if (wanted.Length == 0) throw new PeerException($"No system's name begins with {string.Join(" or ", only)}.");
        SkippedPeer[] skipped = [.. wanted.Where(target => target.Missing is not null)
            .Select(target => new SkippedPeer(target.Info.Name, target.Missing!))];
        foreach (var peer in skipped) Console.WriteLine($"{peer.Name} is skipped: {peer.Reason}");
        TargetRun[] runs = [.. wanted.Where(target => target.Missing is null)
            .Select(target => new TargetRun(target, plan, folder))];
        if (only.Length == 0 && runs.All(run => !run.Target.IsPeer))
        {
            Console.WriteLine("No peer is installed: there is nothing to compare with.");
            Console.WriteLine("peers=0 compared=0");
            return 0;
        }

        var baselines = await new PeerCampaign(runs, plan, folder, Console.Out).RunAsync(cancellationToken);
        var report = new PeersReport(RunInfo.Current, command, new DriveInfo(folder).DriveFormat, plan, baselines,
            [.. runs.Select(run => run.Report())], skipped);
        await WriteAsync(report, output);
        Console.WriteLine($"peers={report.Peers} compared={report.Compared}");
        return report.IsComplete ? 0 : 1;
    }

    private static async Task WriteAsync(PeersReport report, DirectoryInfo output)
    {
        output.Create();
        var page = MarkdownTables.Of(report);
        var (json, markdown) = (Path.Combine(output.FullName, "peers.json"), Path.Combine(output.FullName, "peers.md"));
        await File.WriteAllTextAsync(json, JsonSerializer.Serialize(report, PeersJson.Default.PeersReport) + "\n");
        await File.WriteAllTextAsync(markdown, page);
        Console.WriteLine();
        Console.WriteLine(page);
        Console.WriteLine($"{json}\n{markdown}");
    }

    private static void AtLeast(double value, double least, string name, Action<string> fault)
    {
        if (!(value >= least))
            fault(string.Create(CultureInfo.InvariantCulture, $"{name} must be at least {least}."));
    }
}
