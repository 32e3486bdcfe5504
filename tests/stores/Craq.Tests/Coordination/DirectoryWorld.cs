using Craq.Coordination;
using Tango.Testing;

namespace Craq.Tests.Coordination;

/// <summary>Processes over one log in memory, each with a directory; time moves until what a test waits for is
/// there.</summary>
internal sealed class DirectoryWorld : IAsyncDisposable
{
    private static readonly TimeSpan s_timeToLive = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(20);

    private readonly List<IAsyncDisposable> _owned = [];

    public TangoTestHost Host { get; } = new();

    public async Task<(TestProcess Process, TangoChainDirectory Directory)> StartAsync()
    {
        var process = Host.Start();
        var directory = await RunAsync(TangoChainDirectory.OpenAsync(
            process.Runtime, Host.Time, LoopContext.Pool, CancellationToken.None).AsTask());
        _owned.Insert(0, directory);
        return (process, directory);
    }

    /// <summary>Nodes 1 to that count, registered by one process.</summary>
    public async Task<TangoChainDirectory> StartAsync(int nodes)
    {
        var (_, directory) = await StartAsync();
        for (var i = 1; i <= nodes; i++) await RegisterAsync(directory, Samples.Node(i));
        return directory;
    }

    public async Task<NodeLease> RegisterAsync(TangoChainDirectory directory, DirectoryNode node)
    {
        var lease = new NodeLease(directory, node, s_timeToLive, Host.Time, LoopContext.Pool);
        _owned.Insert(0, lease);
        await UntilAsync(directory, view =>
            lease.IsRegistered && view.Nodes.TryGetValue(node.Id, out var known)
            && known.State != DirectoryNodeState.Gone);
        return lease;
    }

    public async Task<T> RunAsync<T>(Task<T> task)
    {
        await Host.Time.AdvanceUntilAsync(task);
        return await task;
    }

    public async Task<T> RunAsync<T>(ValueTask<T> task) => await RunAsync(task.AsTask());

    public Task RunAsync(ValueTask task) => Host.Time.AdvanceUntilAsync(task.AsTask());

    public Task PassAsync(TimeSpan time) => Host.Time.AdvanceUntilAsync(Task.Delay(time, Host.Time));

    public async Task<DirectoryView> UntilAsync(TangoChainDirectory directory, Predicate<DirectoryView> until)
    {
        var view = directory.View;
        while (!until(view))
        {
            var next = directory.WaitAsync(view, CancellationToken.None).AsTask();
            await Host.Time.AdvanceUntilAsync(Task.WhenAny(next, Task.Delay(s_look, Host.Time)));
            view = directory.View;
        }

        return view;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var owned in _owned) await Host.Time.AdvanceUntilAsync(owned.DisposeAsync().AsTask());
        await Host.DisposeAsync();
    }
}
