using System.Diagnostics;

namespace Corfu.Benchmarks;

/// <summary>A process of this program, other than a node, that says where it serves and ends with its standard
/// input.</summary>
internal sealed class ChildProcess : IDisposable
{
    private const int PatienceMilliseconds = 5000;

    private readonly Process _process;

    private ChildProcess(Process process, string address) => (_process, Address) = (process, address);

    /// <summary>The first line that it printed.</summary>
    public string Address { get; }

    public static async Task<ChildProcess> StartAsync(params string[] arguments)
    {
        var command = ProgramFile.With(arguments);
        var process = Process.Start(new ProcessStartInfo(command.Program, command.Arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
        if (await process.StandardOutput.ReadLineAsync() is { } address) return new ChildProcess(process, address);
        process.Dispose();
        throw new IOException($"The process '{arguments[0]}' has ended before it served.");
    }

    /// <summary>The inside of such a process, once it serves.</summary>
    public static async Task ServeAsync(string address)
    {
        await Console.Out.WriteLineAsync(address);
        await Console.In.ReadLineAsync();
    }

    public void Dispose()
    {
        _process.StandardInput.Close();
        if (!_process.WaitForExit(PatienceMilliseconds)) _process.Kill();
        _process.Dispose();
    }
}
