using System.ComponentModel;
using System.Diagnostics;

namespace Corfu.Load;

/// <summary>A server of another project in the foreground, in a folder of its own. It ends with its standard input, so
/// that a kill of this program leaves none behind.</summary>
internal sealed class ServerProcess : IAsyncDisposable
{
    // The shell becomes the server, so the process id is the server's. Its helper waits for the end of the input, and
    // asks the process to end only if that still works in the same folder: the id may have been given to another one.
    private const string Guard =
        """
        exec 3<&0
        ( exec >/dev/null 2>&1; cat <&3; [ "$(readlink /proc/$$/cwd)" = "$PWD" ] && kill -TERM $$ ) &
        exec "$@" </dev/null 3<&-
        """;

    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    // A server that is about to serve may take a connection and never answer on it.
    private static readonly TimeSpan AttemptLimit = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan ProbeInterval = TimeSpan.FromMilliseconds(50);

    private readonly Process _process;
    private readonly LastLines _lines = new();
    private readonly string _name;

    private ServerProcess(string name, Process process)
    {
        _name = name;
        _process = process;
        process.OutputDataReceived += (_, e) => _lines.Add(e.Data);
        process.ErrorDataReceived += (_, e) => _lines.Add(e.Data);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public int Id => _process.Id;

    public string Log => _lines.ToString();

    public static ServerProcess Start(string name, string folder, params ReadOnlySpan<string> command)
    {
        var start = new ProcessStartInfo("/bin/sh", ["-c", Guard, "sh", .. command])
        {
            WorkingDirectory = folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        try
        {
            return new ServerProcess(name, Process.Start(start)!);
        }
        catch (Win32Exception e)
        {
            throw new PeerException($"{name}: {e.Message}", e);
        }
    }

    /// <summary>Tries to connect until it works.</summary>
    /// <exception cref="PeerException">The process ended, or did not serve in time; with its last lines.</exception>
    public async Task<T> ConnectAsync<T>(Func<CancellationToken, Task<T>> connect, CancellationToken cancellationToken)
    {
        var began = Stopwatch.GetTimestamp();
        while (true)
        {
            using var attempt = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            attempt.CancelAfter(AttemptLimit);
            try
            {
                return await connect(attempt.Token);
            }
            catch (Exception e) when (!cancellationToken.IsCancellationRequested)
            {
                // Every client has exceptions of its own for a server that does not listen yet.
                if (_process.HasExited)
                    throw new PeerException(
                        $"{_name} ended with exit code {_process.ExitCode}; its last lines:\n{Log}");
                if (Stopwatch.GetElapsedTime(began) > StartLimit)
                    throw new PeerException($"{_name} did not serve within {StartLimit.TotalSeconds:0} s ({e.Message});"
                        + $" its last lines:\n{Log}");
            }

            await Task.Delay(ProbeInterval, cancellationToken);
        }
    }

    public async ValueTask DisposeAsync()
    {
        _process.StandardInput.Close();
        using var limit = new CancellationTokenSource(StopLimit);
        try
        {
            await _process.WaitForExitAsync(limit.Token);
        }
        catch (OperationCanceledException)
        {
            _process.Kill();
            await _process.WaitForExitAsync(CancellationToken.None);
        }

        _process.Dispose();
    }
}
