using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Jobs;
using Perfolizer.Horology;

namespace Corfu.Benchmarks;

/// <summary>How benchmarks on a cluster are run. The bytes allocated are the client's.</summary>
[AttributeUsage(AttributeTargets.Class)]
internal sealed class OnClusterAttribute : Attribute, IConfigSource
{
    // An invocation is thousands of operations: nothing to unroll, and the cost of the call does not count. Two warm-up
    // iterations bring the nodes' code to its last tier too.
    public IConfig Config { get; } = ManualConfig.CreateEmpty()
        .AddDiagnoser(MemoryDiagnoser.Default)
        .AddJob(Job.Default.WithId("OnCluster")
            .WithWarmupCount(2)
            .WithIterationCount(7)
            .WithIterationTime(TimeInterval.FromMilliseconds(500))
            .WithUnrollFactor(1)
            .WithEvaluateOverhead(false)
            // As in NodeRuntime.props of Corfu.Cli: pool threads of the client must not spin beside the nodes. The one
            // that BenchmarkDotNet builds around the client does not have that setting.
            .WithEnvironmentVariable("DOTNET_ThreadPool_UnfairSemaphoreSpinLimit", "0")
            .AsDefault());
}
