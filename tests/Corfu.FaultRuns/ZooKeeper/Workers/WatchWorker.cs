using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>Watches nodes that are written, created and deleted, and changes them too.</summary>
internal sealed class WatchWorker(ZooClients clients, string name, int seed) : ZooWorker(clients, name, seed)
{
    protected override async Task StepAsync()
    {
        var watched = ZooPaths.At(ZooPaths.Watched, Random.Next(ZooPaths.EachKind));
        var flickering = ZooPaths.At(ZooPaths.Flickering, Random.Next(ZooPaths.EachKind));
        switch (Random.Next(8))
        {
            case 0 or 1:
                await GetAsync(watched, watch: true);
                break;
            case 2:
                await GetAsync(watched);
                break;
            case 3:
                await SendAsync(new ZooCall(ZooAct.Set, watched) { Data = NextId() });
                break;
            case 4:
                await SendAsync(new ZooCall(ZooAct.Exists, flickering) { Watch = true });
                break;
            case 5:
                await SendAsync(new ZooCall(ZooAct.Create, flickering) { Data = NextId(), IsEphemeral = Chance(2) });
                break;
            case 6:
                await SendAsync(new ZooCall(ZooAct.Delete, flickering));
                break;
            default:
                await SendAsync(new ZooCall(ZooAct.Children, ZooPaths.Flickering) { Watch = true });
                break;
        }
    }

    // Behind a sync, a read shows all changes: an event that has not come by then is missed.
    protected override async Task FinishAsync()
    {
        await SendAsync(new ZooCall(ZooAct.Sync, ZooPaths.Watched));
        for (var place = 0; place < ZooPaths.EachKind; place++)
        {
            await GetAsync(ZooPaths.At(ZooPaths.Watched, place));
            await SendAsync(new ZooCall(ZooAct.Exists, ZooPaths.At(ZooPaths.Flickering, place)));
        }

        await SendAsync(new ZooCall(ZooAct.Children, ZooPaths.Flickering));
    }
}
