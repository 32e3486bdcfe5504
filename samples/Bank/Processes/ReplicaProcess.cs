using System.Collections.Concurrent;
using System.Diagnostics;
using Corfu.Hosting;

namespace BankSample.Processes;

/// <summary>This program again, as a replica; see <see cref="ReplicaMode"/>. It ends with its standard input, so that
/// none is left behind when its parent is killed.</summary>
internal sealed class ReplicaProcess : IAsyncDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    private readonly Process _process;
    private readonly ConcurrentDictionary<string, TaskCompletionSource<string?>> _calls = new();
    private readonly SemaphoreSlim _turn = new(1, 1);
    private Task _reading = Task.CompletedTask;
    private volatile bool _hasEnded;
    private int _tags;

    private ReplicaProcess(Process process) => _process = process;

    /// <exception cref="ReplicaProcessException">It ended before it could serve.</exception>
    public static async Task<ReplicaProcess> StartAsync(string connection, CancellationToken cancellationToken)
    {
        NodeCommandLine self = NodeCommandLine.Self(ReplicaMode.Name, connection);
        var own = new ReplicaProcess(Process.Start(new ProcessStartInfo(self.Program, self.Arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!);
        if (await own._process.StandardOutput.ReadLineAsync(cancellationToken) != ReplicaMode.Ready)
        {
            await own.DisposeAsync();
            throw new ReplicaProcessException("A replica ended before it could serve; it said why above");
        }

        own._reading = own.ReadAsync();
        return own;
    }

    /// <summary>Asks the replica.</summary>
    /// <returns>The answer; null: the process has ended, and what became of the call is not known.</returns>
    public async Task<string?> AskAsync(string call, CancellationToken cancellationToken)
    {
        var tag = $"{Interlocked.Increment(ref _tags)}";
        var answer = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        _calls[tag] = answer;
        if (_hasEnded) return null;
        await _turn.WaitAsync(cancellationToken);
        try
        {
            await _process.StandardInput.WriteLineAsync($"{tag} {call}");
            await _process.StandardInput.FlushAsync(cancellationToken);
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            // The process has ended: the reader tells all calls.
        }
        finally
        {
            _turn.Release();
        }

        return await answer.Task.WaitAsync(cancellationToken);
    }

    /// <summary>SIGKILL.</summary>
    public async Task KillAsync()
    {
        _process.Kill();
        await _process.WaitForExitAsync();
        await _reading;
    }

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

        await _reading;
        _process.Dispose();
    }

    private async Task ReadAsync()
    {
        while (await _process.StandardOutput.ReadLineAsync() is { } line)
        {
            int blank = line.IndexOf(' ', StringComparison.Ordinal);
            if (_calls.TryRemove(line[..blank], out var call)) call.TrySetResult(line[(blank + 1)..]);
        }

        _hasEnded = true;
        foreach (var call in _calls.Values) call.TrySetResult(null);
    }
}

/// <summary>A replica did not do what it is for.</summary>
internal sealed class ReplicaProcessException(string message) : Exception(message);
