using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>Writes rising numbers to a node of its own, several at once: the number is the version that the node gets,
/// while writes take effect once and in their order.</summary>
internal sealed class FifoWorker(ZooClients clients, string name, int seed) : ZooWorker(clients, name, seed)
{
    private const int MostAtOnce = 4;

    private readonly string _path = $"{ZooPaths.Fifo}/{name}";
    private int? _number;

    protected override void OnSession() => _number = null;

    protected override async Task StepAsync()
    {
        if (_number is not { } number)
        {
            var made = await SendAsync(new ZooCall(ZooAct.Create, _path) { Data = "0" });
            if (!made.IsOk && made.Error != ZooEntry.NodeExists) return;
            var read = await GetAsync(_path);
            if (read.IsOk) _number = int.Parse(read.Text);
            return;
        }

        var sets = Enumerable.Range(number + 1, 1 + Random.Next(MostAtOnce)).Select(next =>
            SendAsync(new ZooCall(ZooAct.Set, _path) { Data = $"{next}" })).ToList();
        var replies = await Task.WhenAll(sets);
        _number = replies.All(reply => reply.IsOk) ? number + replies.Length : null;
        if (Chance(4)) await GetAsync(_path);
    }
}

/// <summary>Sets nodes that many sessions set, by the version read. Each text names its writer's id and the id before
/// it, so that the last one leads back to the first.</summary>
internal sealed class CounterWorker(ZooClients clients, string name, int seed) : ZooWorker(clients, name, seed)
{
    protected override async Task StepAsync()
    {
        var path = ZooPaths.At(ZooPaths.Counters, Random.Next(ZooPaths.EachKind));
        // Both are under way together: the read stands behind the sync.
        var synced = Chance(3) ? SendAsync(new ZooCall(ZooAct.Sync, path)) : null;
        var read = await GetAsync(path);
        if (synced is not null) await synced;
        if (!read.IsOk) return;
        await SendAsync(new ZooCall(ZooAct.Set, path)
        { Data = $"{NextId()} {read.Text.Split(' ')[0]}", Version = read.Stat!.Version });
    }
}
