using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Jobs;
using Perfolizer.Horology;

namespace Corfu.Benchmarks;

/// <summary>How benchmarks in one process are run: short iterations and many, with the bytes that each operation
/// allocates. A job of the command line (<c>--job dry</c>) takes the place of this one.</summary>
[AttributeUsage(AttributeTargets.Class)]
internal sealed class HotPathAttribute : Attribute, IConfigSource
{
    public IConfig Config { get; } = ManualConfig.CreateEmpty()
        .AddDiagnoser(MemoryDiagnoser.Default)
        .AddJob(Job.Default.WithId("HotPath")
            .WithWarmupCount(4)
            .WithIterationCount(10)
            .WithIterationTime(TimeInterval.FromMilliseconds(150))
            .AsDefault());
}
