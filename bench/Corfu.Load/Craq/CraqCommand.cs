using System.CommandLine;

namespace Corfu.Load;

/// <summary><c>craq</c>: the figures of CRAQ's paper on this machine.</summary>
internal static class CraqCommand
{
    private const int DefaultSize = 500;

    public static Command Create()
    {
        var rounds = LoadOptions.Positive("--rounds", "Rounds; the median of each figure counts.", 5);
        var size = LoadOptions.Positive(
            "--size", "Bytes of a value, where a section has no sizes of its own.", DefaultSize);
        var seconds = new Option<double>("--seconds")
        {
            Description = "Length of one measurement.",
            HelpName = "S",
            DefaultValueFactory = _ => 2,
        };
        seconds.Validators.Add(result =>
        {
            if (!(result.GetValueOrDefault<double>() >= 0.1)) result.AddError("--seconds must be at least 0.1.");
        });
        var section = new Option<string[]>("--section")
        {
            Description = "Only these sections; without it all of them.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [],
        };
        section.AcceptOnlyFromAmong(CraqPlan.All);
        var directory = new Option<DirectoryInfo?>("--dir", "-d")
        { Description = "Where the nodes keep their data (default: a temporary folder)." };
        var report = new Option<FileInfo?>("--report")
        { Description = "Write the report here too, in Markdown." };
        var command = new Command("craq",
            "CRAQ's figures: reads, writes, dirty reads, transactions, fail-over, and beside memcached and redis.")
        {
            rounds, seconds, size, section, directory, report,
        };
        command.SetAction((result, cancellationToken) => RunAsync(
            CraqPlan.Of(result.GetValue(rounds), result.GetValue(seconds), result.GetValue(size),
                result.GetValue(section) ?? []),
            result.GetValue(directory), result.GetValue(report), cancellationToken));
        return command;
    }

    private static async Task<int> RunAsync(
        CraqPlan plan, DirectoryInfo? directory, FileInfo? file, CancellationToken cancellationToken)
    {
        using var folder = new WorkFolder(directory);
        Console.WriteLine($"craq: {RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}");
        using var rig = new CraqRig(plan, folder.Path);
        List<CraqSection> sections = [];
        if (plan.Sections.Any(name => name != CraqPlan.Failover))
        {
            var port = FreePort.Take(1)[0];
            await using var nodes = await CraqNodes.StartAsync(Path.Combine(folder.Path, "nodes"), CraqStage.Nodes,
                [$"{port}=strong@{CraqStage.Keyspace}"], cancellationToken);
            var stage = new CraqStage(rig, nodes, port);
            await stage.WarmUpAsync(cancellationToken);
            foreach (var name in plan.Sections.Where(name => name != CraqPlan.Failover))
                sections.Add(await RunAsync(name, stage, folder.Path, cancellationToken));
        }

        // Nodes of its own, on an idle machine.
        if (plan.Sections.Contains(CraqPlan.Failover))
            sections.Add(await FailoverSection.RunAsync(rig, folder.Path, cancellationToken));
        var report = new CraqReport(RunInfo.Current, plan, sections);
        var page = report.ToMarkdown();
        Console.WriteLine();
        Console.WriteLine(page);
        if (file is not null) await File.WriteAllTextAsync(file.FullName, page, cancellationToken);
        foreach (var problem in sections.SelectMany(section => section.Problems))
            await Console.Error.WriteLineAsync($"not valid: {problem}");
        Console.WriteLine(report.Summary);
        return sections.Any(section => section.Problems.Count > 0) ? 1 : 0;
    }

    private static Task<CraqSection> RunAsync(
        string name, CraqStage stage, string folder, CancellationToken cancellationToken) => name switch
        {
            CraqPlan.Reads => ReadSection.RunAsync(stage, cancellationToken),
            CraqPlan.Writes => WriteSection.RunAsync(stage, cancellationToken),
            CraqPlan.Relay => RelaySection.RunAsync(stage, cancellationToken),
            CraqPlan.Dirty => DirtySection.RunAsync(stage, cancellationToken),
            CraqPlan.Transactions => TransactionSection.RunAsync(stage, cancellationToken),
            CraqPlan.Peers => PeerSection.RunAsync(stage, folder, cancellationToken),
            _ => throw new ArgumentOutOfRangeException(nameof(name), name, "No such section."),
        };
}
