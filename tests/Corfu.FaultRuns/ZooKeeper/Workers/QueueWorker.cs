using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>Puts items into a queue as sequential nodes, and takes the first one by deleting it.</summary>
internal sealed class QueueWorker(ZooClients clients, string name, int seed) : ZooWorker(clients, name, seed)
{
    private const int Full = 30;

    private int _length;

    protected override async Task StepAsync()
    {
        var queue = ZooPaths.At(ZooPaths.Queues, Random.Next(ZooPaths.EachKind));
        if (_length < Full && Chance(2))
        {
            await SendAsync(new ZooCall(ZooAct.Create, $"{queue}/item-") { Data = NextId(), IsSequential = true });
            return;
        }

        var listed = await SendAsync(new ZooCall(ZooAct.Children, queue) { Watch = Chance(3) });
        _length = listed.Names.Count;
        if (!listed.IsOk || _length == 0) return;
        var first = $"{queue}/{listed.Names.MinBy(ZooPaths.SequenceOf)}";
        if ((await GetAsync(first)).IsOk) await SendAsync(new ZooCall(ZooAct.Delete, first));
    }

    protected override async Task FinishAsync()
    {
        for (var place = 0; place < ZooPaths.EachKind; place++)
        {
            var queue = ZooPaths.At(ZooPaths.Queues, place);
            await SendAsync(new ZooCall(ZooAct.Sync, queue));
            await SendAsync(new ZooCall(ZooAct.Children, queue));
        }
    }
}
