using Microsoft.Extensions.Logging.Abstractions;
using Tango.Testing;

namespace Salus.Coordination.Tests.Support;

/// <summary>Processes over one log in memory, each with a map, a lease and an agent; time moves until what a test waits
/// for is there.</summary>
internal sealed class AgentWorld : IAsyncDisposable
{
    public static readonly TimeSpan TimeToLive = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(50);

    private readonly List<SalusProcess> _processes = [];

    public TangoTestHost Host { get; } = new();

    public FakeNodes Nodes { get; } = new();

    public SalusProcess this[int number] => _processes.Single(process => process.Number == number && process.IsUp);

    public static NodeEndpoint Endpoint(int number) => new("127.0.0.1", 4000 + number);

    public static async Task<AgentWorld> StartAsync(int processes)
    {
        var world = new AgentWorld();
        for (var i = 0; i < processes; i++) await world.StartProcessAsync(i);
        await world.UntilAsync(() => world[0].Map.View.Nodes.Stores.Count == processes);
        return world;
    }

    public async Task<SalusProcess> StartProcessAsync(int number, string domain = "")
    {
        var process = Host.Start();
        var map = await RunAsync(VolumeMap.OpenAsync(process.Runtime, Host.Time, LoopContext.Pool));
        var lease = new NodeLease(map.Book, new NodeRegistration(
            TestVolume.Store(number), Endpoint(number), domain, 1 << 20, TimeToLive), Host.Time, SystemEntropy.Instance,
            LoopContext.Pool, NullLogger.Instance);
        var agent = await RunAsync(SalusAgent.StartAsync(process.Runtime, map,
            new AgentParts(Nodes, Host.Time, null, NullLogger.Instance), new SalusAgentOptions()));
        var started = new SalusProcess(number, process, map, lease, agent);
        _processes.Add(started);
        await UntilAsync(() => lease.IsHeld);
        return started;
    }

    public SalusAdmin Admin(int number) =>
        new(this[number].Process.Runtime, this[number].Map, Host.Time, SystemEntropy.Instance);

    /// <summary>The process ends without a word.</summary>
    public void Kill(int number)
    {
        var process = this[number];
        process.IsUp = false;
        process.Process.Connection.Lose();
        Nodes.Mute.Add(Endpoint(number));
    }

    /// <summary>The process whose agent leads. One does soon, whatever came before.</summary>
    public async Task<SalusProcess> LeaderAsync()
    {
        await UntilAsync(() => _processes.Exists(IsLeader));
        return _processes.Single(IsLeader);

        static bool IsLeader(SalusProcess process) => process.IsUp && process.Agent.IsLeader;
    }

    public async Task<T> RunAsync<T>(Task<T> task)
    {
        await Host.Time.AdvanceUntilAsync(task);
        return await task;
    }

    public Task<T> RunAsync<T>(ValueTask<T> task) => RunAsync(task.AsTask());

    public Task RunAsync(Task task) => Host.Time.AdvanceUntilAsync(task);

    public Task PassAsync(TimeSpan time) => Host.Time.AdvanceUntilAsync(Task.Delay(time, Host.Time), s_look);

    /// <summary>Bounded in the world's time: a test that waits in vain fails.</summary>
    public async Task UntilAsync(Func<bool> until)
    {
        for (var i = 0; i < 4000 && !until(); i++) await PassAsync(s_look);
        Assert.True(until());
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var process in _processes.Where(static process => process.IsUp))
            await Host.Time.AdvanceUntilAsync(process.DisposeAsync().AsTask());
        await Host.DisposeAsync();
    }
}

internal sealed class SalusProcess(int number, TestProcess process, VolumeMap map, NodeLease lease, SalusAgent agent)
    : IAsyncDisposable
{
    public int Number => number;

    public bool IsUp { get; set; } = true;

    public TestProcess Process => process;

    public VolumeMap Map => map;

    public NodeLease Lease => lease;

    public SalusAgent Agent => agent;

    public async ValueTask DisposeAsync()
    {
        await agent.DisposeAsync();
        await lease.DisposeAsync();
        await map.DisposeAsync();
    }
}
