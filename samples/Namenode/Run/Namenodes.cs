using NamenodeSample.Serving;

namespace NamenodeSample.Run;

/// <summary>The namenode processes of a run. One that ends gets another in its place, with another name.</summary>
internal sealed class Namenodes : IAsyncDisposable
{
    // More are a fault of the program or the cluster.
    private const int MaxUnexpectedEnds = 10;

    // An opened journal, on a machine that is busy with something else.
    private static readonly TimeSpan s_start = TimeSpan.FromSeconds(60);

    private readonly string _connection;
    private readonly TimeSpan _lease;
    private CallProcess[] _processes = [];
    private int _started;
    private int _unexpectedEnds;

    public Namenodes(string connection, TimeSpan lease) => (_connection, _lease) = (connection, lease);

    public IReadOnlyList<CallProcess> All => _processes;

    /// <summary>Any number: clients go from one to the next.</summary>
    public CallProcess this[int number] => Volatile.Read(ref _processes[number % _processes.Length]);

    public async Task StartAsync(int count, CancellationToken cancellationToken)
    {
        Task<CallProcess>[] starting = [.. Enumerable.Range(0, count).Select(_ => StartOneAsync(cancellationToken))];
        Task all = Task.WhenAll(starting);
        await all.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        // Processes that have started are ended with the rest, also if another has not.
        _processes =
            [.. starting.Where(static task => task.IsCompletedSuccessfully).Select(static task => task.Result)];
        await all;
    }

    /// <summary>The namenode of that name; null: it has been replaced.</summary>
    public CallProcess? Find(string name) => Array.Find(_processes, process => process.Name == name);

    /// <summary>Starts a namenode in place of one that has ended.</summary>
    public async Task ReplaceAsync(CallProcess ended, CancellationToken cancellationToken)
    {
        CallProcess started = await StartOneAsync(cancellationToken);
        Volatile.Write(ref _processes[Array.IndexOf(_processes, ended)], started);
        await ended.DisposeAsync();
    }

    /// <summary>Replaces namenodes that have ended by themselves.</summary>
    /// <param name="fault">A namenode that the run has ended, or stopped: it stays.</param>
    /// <exception cref="RunException">Too many have.</exception>
    public async Task MendAsync(CallProcess? fault, CancellationToken cancellationToken)
    {
        while (Array.Find(_processes, process => process != fault && process.Ended.IsCompleted) is { } ended)
        {
            await Console.Out.WriteLineAsync($"{ended.Name} has ended by itself: {ended.LastWords}");
            if (++_unexpectedEnds > MaxUnexpectedEnds)
                throw new RunException($"More than {MaxUnexpectedEnds} namenodes have ended by themselves");
            await ReplaceAsync(ended, cancellationToken);
        }
    }

    /// <summary>Ends all.</summary>
    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(_processes.Select(static process => process.DisposeAsync().AsTask()));
        _processes = [];
    }

    /// <exception cref="RunException">The namenode does not serve.</exception>
    private async Task<CallProcess> StartOneAsync(CancellationToken cancellationToken)
    {
        var name = $"namenode-{Interlocked.Increment(ref _started)}";
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        late.CancelAfter(s_start);
        try
        {
            return await CallProcess.StartAsync(
                name, [NamenodeMode.Name, _connection, name, $"{(int)_lease.TotalMilliseconds}"], late.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new RunException($"{name} has not opened the journal within {s_start.TotalSeconds:0} s");
        }
    }
}
