using System.Diagnostics;
using System.Runtime.InteropServices;
using Corfu.Hosting;

namespace SharedSample;

/// <summary>This program again, in another mode, with pipes. A child ends when its standard input does, so that none is
/// left behind when its parent is killed.</summary>
public sealed partial class ChildProcess : IAsyncDisposable
{
    private const int Sigcont = 18;
    private const int Sigstop = 19;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    private readonly TimeSpan _patience;
    private readonly Process _process;
    private bool _isStopped;

    private ChildProcess(string name, TimeSpan patience, Process process) =>
        (Name, _patience, _process) = (name, patience, process);

    public string Name { get; }

    public bool HasEnded => _process.HasExited;

    public static ChildProcess Start(string name, params ReadOnlySpan<string> arguments) =>
        Start(name, s_patience, arguments);

    /// <param name="patience">How long the child may take to end by itself.</param>
    public static ChildProcess Start(string name, TimeSpan patience, params ReadOnlySpan<string> arguments)
    {
        NodeCommandLine self = NodeCommandLine.Self(arguments);
        return new ChildProcess(name, patience, Process.Start(new ProcessStartInfo(self.Program, self.Arguments)
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
        catch (Exception e) when (e is IOException or ObjectDisposedException)
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

    /// <summary>SIGSTOP, on Linux: nothing of the process runs until <see cref="Continue"/>.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        _isStopped = true;
        Send(Sigstop);
        while (!IsStopped()) await Task.Delay(1, cancellationToken);
    }

    /// <summary>SIGCONT.</summary>
    public void Continue()
    {
        Send(Sigcont);
        _isStopped = false;
    }

    /// <summary>Ends the input, at which the process ends by itself; one that does not is killed.</summary>
    public async Task EndAsync()
    {
        try
        {
            if (_isStopped) _process.Kill();
            else if (!_process.HasExited) _process.StandardInput.Close();
            await _process.WaitForExitAsync().WaitAsync(_patience);
        }
        catch (Exception e) when (e is IOException or TimeoutException)
        {
            await KillAsync();
        }
    }

    /// <summary>As <see cref="EndAsync"/>.</summary>
    public async ValueTask DisposeAsync()
    {
        await EndAsync();
        _process.Dispose();
    }

    private void Send(int signal)
    {
        if (Send(_process.Id, signal) != 0 && !_process.HasExited)
            throw new ChildProcessException($"{Name} cannot be sent signal {signal}");
    }

    // The state stands behind the name, which may contain anything.
    private bool IsStopped()
    {
        if (_process.HasExited) throw new ChildProcessException($"{Name} ended with exit code {_process.ExitCode}");
        string state = File.ReadAllText($"/proc/{_process.Id}/stat");
        return state[(state.LastIndexOf(')') + 2)..].StartsWith('T');
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Send(int processId, int signal);
}

/// <summary>A child process did not do what it is for; it said why on standard error.</summary>
public sealed class ChildProcessException(string message) : Exception(message);
