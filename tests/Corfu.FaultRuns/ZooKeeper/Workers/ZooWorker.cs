using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>A client that works, with one session after the other: a session that ends has a successor.</summary>
internal abstract class ZooWorker(ZooClients clients, string name, int seed)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(60);

    private ZooSession? _session;
    private int _lives;
    private int _ids;

    public string Name => name;

    protected Random Random { get; } = new(seed);

    protected ZooSession Session => _session!;

    /// <summary>In ms.</summary>
    protected virtual int Timeout => 6_000;

    /// <summary>Something that began behind that moment was answered, or the worker is silent on purpose.</summary>
    public virtual bool GoesOnSince(long moment) => _session?.LastOk > moment;

    public async Task RunAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            if (_session is null or { IsOver: true })
            {
                await LeaveAsync();
                _session = clients.Open($"{name}.{++_lives}", Timeout, Random.Next());
                OnSession();
            }

            await StepAsync();
            await Task.Delay(s_pause * (0.5 + Random.NextDouble()), CancellationToken.None);
        }
    }

    /// <summary>Reads once more what the worker has watched, and ends the session, or leaves it.</summary>
    public async Task EndAsync()
    {
        if (_session is { IsOver: false })
        {
            await FinishAsync();
            while (Closes && !Session.IsOver) await Session.SendAsync(new ZooCall(ZooAct.Close, ""));
        }

        await LeaveAsync();
    }

    /// <summary>False: the client goes without a word at the end.</summary>
    protected virtual bool Closes => true;

    /// <summary>Another session begins: what the last one had is gone.</summary>
    protected virtual void OnSession()
    {
    }

    protected abstract Task StepAsync();

    protected virtual Task FinishAsync() => Task.CompletedTask;

    protected Task<ZooEntry> SendAsync(ZooCall call) => Session.SendAsync(call);

    protected Task<ZooEntry> GetAsync(string path, bool watch = false) =>
        SendAsync(new ZooCall(ZooAct.Get, path) { Watch = watch });

    /// <summary>Unique in the run.</summary>
    protected string NextId() => $"{name}:{++_ids}";

    protected bool Chance(int oneIn) => Random.Next(oneIn) == 0;

    private async Task LeaveAsync()
    {
        if (_session is { } old) await old.DisposeAsync();
        _session = null;
    }
}
