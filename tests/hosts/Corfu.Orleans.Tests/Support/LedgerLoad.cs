using System.Collections.Concurrent;
using Corfu.OrleansSilo;
using Orleans;

namespace Corfu.Orleans.Tests.Support;

/// <summary>Workers that add operations to grains, each until it is acknowledged. At the end every one of them is there
/// exactly once.</summary>
internal sealed class LedgerLoad
{
    private const int Workers = 6;
    private const int Grains = 4;
    private const int PerWorker = 1_000_000;

    private readonly IGrainFactory _client;
    private readonly ConcurrentBag<int> _acknowledged = [];
    private readonly int[] _progress = new int[Workers];
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _running;

    public LedgerLoad(IGrainFactory client)
    {
        _client = client;
        _running = Task.WhenAll(Enumerable.Range(0, Workers).Select(worker => Task.Run(() => RunAsync(worker))));
    }

    /// <summary>Every worker has gone on since the call began.</summary>
    public async Task GoesOnAsync(string after)
    {
        // The worker's next call may have been sent before this one; the call after it was not.
        var goal = Enumerable.Range(0, Workers).Select(worker => Volatile.Read(ref _progress[worker]) + 2).ToArray();
        await Eventually.IsTrueAsync(async () =>
        {
            if (_running.IsCompleted) await _running;
            return Enumerable.Range(0, Workers).All(worker => Volatile.Read(ref _progress[worker]) >= goal[worker]);
        }, $"every worker goes on {after}");
    }

    public async Task EndAsync()
    {
        await _stop.CancelAsync();
        await _running;
        var stored = new List<int>();
        for (var grain = 0; grain < Grains; grain++)
        {
            var ledger = _client.GetGrain<ILedgerGrain>(Name(grain));
            stored.AddRange(await Eventually.SucceedsAsync(ledger.ListAsync, "a ledger is read"));
        }

        Assert.Equal(_acknowledged.Order(), stored.Order());
    }

    private async Task RunAsync(int worker)
    {
        var ledger = _client.GetGrain<ILedgerGrain>(Name(worker % Grains));
        for (var next = 0; !_stop.IsCancellationRequested; next++)
        {
            var operation = (worker * PerWorker) + next;
            await Eventually.SucceedsAsync(async () =>
            {
                await ledger.AddAsync(operation);
                return true;
            }, $"operation {operation} is acknowledged");
            _acknowledged.Add(operation);
            Interlocked.Increment(ref _progress[worker]);
        }
    }

    private static string Name(int grain) => $"ledger {grain}";
}
