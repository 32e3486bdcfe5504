namespace Corfu.Benchmarks;

/// <summary>The folder of one run, in the system's folder for temporary files (TMPDIR). Processes that BenchmarkDotNet
/// starts find it in their environment: what a killed one leaves behind goes with the run.</summary>
internal sealed class RunFolder : IDisposable
{
    private const string Variable = "CORFU_BENCHMARKS_FOLDER";

    private readonly string _path = Directory.CreateTempSubdirectory("corfu-benchmarks-").FullName;

    public RunFolder() => Environment.SetEnvironmentVariable(Variable, _path);

    /// <summary>A new folder below the run's.</summary>
    public static string Create(string name)
    {
        var parent = Environment.GetEnvironmentVariable(Variable) ?? Path.GetTempPath();
        return Directory.CreateDirectory(Path.Combine(parent, $"{name}-{Guid.NewGuid():N}")).FullName;
    }

    public void Dispose()
    {
        try
        {
            Directory.Delete(_path, recursive: true);
        }
        catch (IOException e)
        {
            Console.Error.WriteLine($"{_path} could not be removed: {e.Message}");
        }
    }
}
