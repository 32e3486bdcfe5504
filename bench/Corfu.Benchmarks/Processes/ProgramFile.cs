using Corfu.Hosting;

namespace Corfu.Benchmarks;

/// <summary>This program, started as another process. In a process of BenchmarkDotNet's it is not the one that
/// runs.</summary>
internal static class ProgramFile
{
    public static NodeCommandLine With(params ReadOnlySpan<string> arguments) =>
        new("dotnet", [typeof(ProgramFile).Assembly.Location, .. arguments]);
}
