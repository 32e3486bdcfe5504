using System.Diagnostics;
using Corfu.Hosting;

namespace SharedSample;

/// <summary>This program again, in another mode, with pipes. The child must end once its standard input has ended, so
/// that none is left when the parent is killed.</summary>
public sealed class ChildProcess : IAsyncDisposable
{
    // The shell sends SIGCONT also when the parent is killed: a stopped child would never read the end of its input.
    private const string StopUntilInputEnds = "kill -STOP $0 && read -r _; kill -CONT $0";

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    private readonly TimeSpan _patience;
    private readonly Process _process;
    private Process? _stopper;
    private bool _isDisposed;

    private ChildProcess(string name, TimeSpan patience, Process process) =>
        (Name, _patience, _process) = (name, patience, process);

    public string Name { get; }

    /// <summary>By itself, or since it was killed.</summary>
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

    /// <summary>The next line that the child prints; null: its standard output has ended.</summary>
    public ValueTask<string?> ReadAsync(CancellationToken cancellationToken) =>
        _process.StandardOutput.ReadLineAsync(cancellationToken);

    /// <summary>The next line, which must be there.</summary>
    /// <exception cref="ChildProcessException">The child has ended.</exception>
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
            // The child has ended: so does its output.
        }
    }

    /// <summary>SIGKILL.</summary>
    public async Task KillAsync()
    {
        // First: the shell must not send a signal to a process that has the child's id later.
        EndStopper();
        _process.Kill();
        await _process.WaitForExitAsync();
    }

    /// <summary>SIGSTOP, on Linux: the child does nothing until <see cref="ContinueAsync"/>.</summary>
    /// <returns>False: the child has ended before it could be stopped.</returns>
    /// <exception cref="ChildProcessException">The child goes on.</exception>
    public async Task<bool> StopAsync(CancellationToken cancellationToken)
    {
        if (_process.HasExited) return false;
        _stopper = Process.Start(new ProcessStartInfo("sh")
        {
            ArgumentList = { "-c", StopUntilInputEnds, $"{_process.Id}" },
            RedirectStandardInput = true,
            RedirectStandardError = true,
        })!;
        long began = TimeProvider.System.GetTimestamp();
        while (!_process.HasExited)
        {
            if (IsStopped()) return true;
            if (TimeProvider.System.GetElapsedTime(began) > s_patience)
                throw new ChildProcessException($"{Name} is not stopped {s_patience.TotalSeconds:0} s after SIGSTOP");
            await Task.Delay(1, cancellationToken);
        }

        EndStopper();
        return false;
    }

    /// <summary>SIGCONT.</summary>
    public async Task ContinueAsync()
    {
        if (_stopper is not { } stopper) return;
        stopper.StandardInput.Close();
        await stopper.WaitForExitAsync();
        EndStopper();
    }

    /// <summary>Ends the child's input, at which the child ends. A child that is stopped, or takes too long, is killed.
    /// </summary>
    public async Task EndAsync()
    {
        if (_stopper is not null)
        {
            await KillAsync();
            return;
        }

        try
        {
            if (!_process.HasExited) _process.StandardInput.Close();
            await _process.WaitForExitAsync().WaitAsync(_patience);
        }
        catch (Exception e) when (e is IOException or TimeoutException)
        {
            await KillAsync();
        }
    }

    /// <summary>As <see cref="EndAsync"/>. May be repeated.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_isDisposed) return;
        _isDisposed = true;
        await EndAsync();
        _process.Dispose();
    }

    private void EndStopper()
    {
        _stopper?.Kill();
        _stopper?.Dispose();
        _stopper = null;
    }

    // The state follows the program's name, which may have blanks and parentheses.
    private bool IsStopped()
    {
        try
        {
            string state = File.ReadAllText($"/proc/{_process.Id}/stat");
            return state[(state.LastIndexOf(')') + 2)..].StartsWith('T');
        }
        catch (IOException)
        {
            return false;
        }
    }
}

/// <summary>A child process has ended too early, or does not answer; its standard error says more.</summary>
public sealed class ChildProcessException(string message) : Exception(message);
