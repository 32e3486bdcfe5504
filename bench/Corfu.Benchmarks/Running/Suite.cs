using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;

namespace Corfu.Benchmarks;

/// <summary>The run of the benchmarks that the arguments name.</summary>
internal static class Suite
{
    // BenchmarkDotNet builds this project and all below it once more, into a folder of its own. They were analyzed when
    // this program was built.
    private static readonly TimeSpan s_buildTimeout = TimeSpan.FromMinutes(10);
    private static readonly Argument[] s_buildArguments =
        [new MsBuildArgument("/p:RunAnalyzers=false"), new MsBuildArgument("/p:EnforceCodeStyleInBuild=false")];

    private static readonly string[] s_queries = ["--list", "--help", "--info", "--version"];

    /// <summary>Not 0 if a benchmark failed, or none ran although some were asked for.</summary>
    public static int Run(string[] args)
    {
        using var folder = new RunFolder();
        var config = ManualConfig.Create(DefaultConfig.Instance)
            .WithBuildTimeout(s_buildTimeout)
            .AddJob(Job.Default.WithArguments(s_buildArguments).AsMutator());
        var summaries = BenchmarkSwitcher.FromAssembly(typeof(Suite).Assembly).Run(args, config).ToArray();
        if (args.Any(s_queries.Contains)) return 0;
        var asked = summaries.Sum(static summary => summary.BenchmarksCases.Length);
        var succeeded = summaries.SelectMany(static summary => summary.Reports).Count(static report => report.Success);
        Console.WriteLine($"benchmarks={asked} failed={asked - succeeded}");
        return asked == succeeded && asked > 0 ? 0 : 1;
    }
}
