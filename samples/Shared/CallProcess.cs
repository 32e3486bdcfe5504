using System.Collections.Concurrent;

namespace SharedSample;

/// <summary>A child that answers calls, many at once; see <see cref="CallServer"/>.</summary>
public sealed class CallProcess : IAsyncDisposable
{
    private readonly ChildProcess _child;
    private readonly ConcurrentDictionary<string, TaskCompletionSource<string?>> _calls = new();
    private readonly SemaphoreSlim _turn = new(1, 1);
    private Task _reading = Task.CompletedTask;
    private volatile bool _hasEnded;
    private int _tags;

    private CallProcess(ChildProcess child) => _child = child;

    public string Name => _child.Name;

    /// <summary>The reason for which the child ended, if it told one with <see cref="CallServer.SayWhyAsync"/>.
    /// </summary>
    public string? LastWords { get; private set; }

    /// <summary>Completes when the child has ended.</summary>
    public Task Ended => _reading;

    /// <summary>Starts a child and waits until it serves.</summary>
    /// <exception cref="ChildProcessException">The child ended before it could serve.</exception>
    public static async Task<CallProcess> StartAsync(
        string name, string[] arguments, CancellationToken cancellationToken)
    {
        var process = new CallProcess(ChildProcess.Start(name, arguments));
        try
        {
            while (await process._child.RequireAsync(cancellationToken) != CallServer.Ready)
            {
            }
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }

        process._reading = process.ReadAsync();
        return process;
    }

    /// <summary>Asks the child.</summary>
    /// <returns>The answer; null: the child has ended, and may have done what the call asks, or not.</returns>
    public async Task<string?> AskAsync(string call, CancellationToken cancellationToken)
    {
        var tag = $"{Interlocked.Increment(ref _tags)}";
        var answer = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        _calls[tag] = answer;
        try
        {
            // In this order: the reader completes each call that it finds once it has set the field.
            if (_hasEnded) return null;
            await _turn.WaitAsync(cancellationToken);
            try
            {
                await _child.TellAsync($"{tag} {call}");
            }
            finally
            {
                _turn.Release();
            }

            return await answer.Task.WaitAsync(cancellationToken);
        }
        finally
        {
            _calls.TryRemove(tag, out _);
        }
    }

    /// <inheritdoc cref="ChildProcess.KillAsync"/>
    public async Task KillAsync()
    {
        await _child.KillAsync();
        await _reading;
    }

    /// <inheritdoc cref="ChildProcess.StopAsync"/>
    public Task<bool> StopAsync(CancellationToken cancellationToken) => _child.StopAsync(cancellationToken);

    /// <inheritdoc cref="ChildProcess.ContinueAsync"/>
    public Task ContinueAsync() => _child.ContinueAsync();

    public async ValueTask DisposeAsync()
    {
        await _child.DisposeAsync();
        await _reading;
    }

    private async Task ReadAsync()
    {
        try
        {
            while (await _child.ReadAsync(CancellationToken.None) is { } line)
            {
                int blank = line.IndexOf(' ', StringComparison.Ordinal);
                if (blank < 0) continue;
                if (line[..blank] == CallServer.Why) LastWords = line[(blank + 1)..];
                else if (_calls.TryGetValue(line[..blank], out var call)) call.TrySetResult(line[(blank + 1)..]);
            }
        }
        finally
        {
            _hasEnded = true;
            foreach (var call in _calls.Values) call.TrySetResult(null);
        }
    }
}
