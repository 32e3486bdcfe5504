using System.Diagnostics;
using Corfu.Hosting;

namespace NamespaceSample.Processes;

/// <summary>This program again, in another mode, with pipes. A child ends when its standard input does, so that none is
/// left behind when its parent is killed.</summary>
internal sealed class ChildProcess : IAsyncDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    private readonly Process _process;

    private ChildProcess(string name, Process process) => (Name, _process) = (name, process);

    public string Name { get; }

    public bool HasEnded => _process.HasExited;

    public static ChildProcess Start(string name, params ReadOnlySpan<string> arguments)
    {
        NodeCommandLine self = NodeCommandLine.Self(arguments);
        return new ChildProcess(name, Process.Start(new ProcessStartInfo(self.Program, self.Arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!);
    }

    /// <summary>The next line that it prints; null once it has ended.</summary>
    public ValueTask<string?> ReadAsync(CancellationToken cancellationToken) =>
        _process.StandardOutput.ReadLineAsync(cancellationToken);

    /// <summary>The next line, which must be there.</summary>
    /// <exception cref="ChildProcessException">The process has ended.</exception>
    public async ValueTask<string> RequireAsync(CancellationToken cancellationToken)
    {
        if (await ReadAsync(cancellationToken) is { } line) return line;
        await _process.WaitForExitAsync(cancellationToken);
        throw new ChildProcessException($"{Name} ended with exit code {_process.ExitCode}");
    }

    public async ValueTask TellAsync(string line)
    {
        try
        {
            await _process.StandardInput.WriteLineAsync(line);
            await _process.StandardInput.FlushAsync();
        }
        catch (IOException)
        {
            // The process has ended: its output tells.
        }
    }

    /// <summary>SIGKILL.</summary>
    public async Task KillAsync()
    {
        _process.Kill();
        await _process.WaitForExitAsync();
    }

    /// <summary>Ends the input, at which the process ends by itself; one that does not is killed.</summary>
    public async ValueTask DisposeAsync()
    {
        try
        {
            if (!_process.HasExited) _process.StandardInput.Close();
            await _process.WaitForExitAsync().WaitAsync(s_patience);
        }
        catch (Exception e) when (e is IOException or TimeoutException)
        {
            _process.Kill();
            await _process.WaitForExitAsync();
        }

        _process.Dispose();
    }
}

/// <summary>A child process did not do what it is for; it said why on standard error.</summary>
internal sealed class ChildProcessException(string message) : Exception(message);
