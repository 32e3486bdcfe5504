using System.Collections.Concurrent;

namespace Corfu.StateMachines.Tests.Support;

/// <summary>A log in memory and its clock, and the replicas that a test opens on them.</summary>
internal sealed class World : IAsyncDisposable
{
    public const string Name = "sums";

    private readonly ConcurrentQueue<AppendFault> _faults = new();
    private readonly List<Replica<SumMachine>> _replicas = [];

    public World()
    {
        Log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            Time = Time,
            NextAppendFault = () => _faults.TryDequeue(out var fault) ? fault : AppendFault.None,
        });
        Options = new ReplicaOptions { Time = Time, Attempts = 2 };
    }

    public static StreamId Commands { get; } = StreamId.FromName("machine/" + Name);

    public static StreamId Snapshots { get; } = StreamId.FromName($"machine/{Name}/snapshots");

    public static StreamId Chunks { get; } = StreamId.FromName($"machine/{Name}/chunks");

    public TestTime Time { get; } = new();

    public InMemoryCorfuLog Log { get; }

    public ReplicaOptions Options { get; set; }

    public async Task<Replica<SumMachine>> OpenAsync(string clock = "", ICorfuLog? log = null)
    {
        var replica = await Do(Replica<SumMachine>.OpenAsync(
            log ?? Log, Name, () => new SumMachine { Clock = clock }, Options).AsTask());
        _replicas.Add(replica);
        return replica;
    }

    /// <summary>The next appends have these faults.</summary>
    public void Fault(params AppendFault[] faults)
    {
        foreach (var fault in faults) _faults.Enqueue(fault);
    }

    /// <summary>Moves the clock until the task has completed.</summary>
    public async Task<T> Do<T>(Task<T> task)
    {
        await Time.AdvanceUntilAsync(task);
        return await task;
    }

    /// <summary>Lets time pass in few steps.</summary>
    public Task PassAsync(TimeSpan time) =>
        Time.AdvanceUntilAsync(Task.Delay(time, Time), TimeSpan.FromTicks(time.Ticks / 10));

    public Task Do(Task task) => Time.AdvanceUntilAsync(task);

    public Task<CommandOutcome> Do(ValueTask<CommandOutcome> task) => Do(task.AsTask());

    /// <summary>The replica's state, of all that is acknowledged.</summary>
    public Task<string> ShowAsync(Replica<SumMachine> replica) =>
        Do(replica.QueryAsync(machine => machine.Show()).AsTask());

    /// <summary>Sends a command and gives its result.</summary>
    public async Task<string> AddAsync(Replica<SumMachine> replica, string key) =>
        SumMachine.Text((await Do(replica.ProposeAsync(SumMachine.Bytes(key)))).Require());

    /// <summary>Entries of a stream, from a position on.</summary>
    public async Task<List<LogEntry>> EntriesAsync(StreamId stream, LogPosition from = default)
    {
        var cursor = new StreamCursor(Log, stream, from);
        await cursor.SyncAsync();
        List<LogEntry> entries = [];
        while (await cursor.ReadNextAsync() is { } entry) entries.Add(entry);
        return entries;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var replica in _replicas) await Do(replica.DisposeAsync().AsTask());
    }
}
