using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>Sessions that leave ephemeral nodes, and end: by a close, by silence, or with their client.</summary>
internal sealed class EphemeralWorker(ZooClients clients, string name, int seed) : ZooWorker(clients, name, seed)
{
    private const int NodesEach = 3;

    private bool _isSilent;
    private int _looks;

    protected override int Timeout => 4_000;

    protected override bool Closes { get; } = seed % 2 == 0;

    public override bool GoesOnSince(long moment) => _isSilent || base.GoesOnSince(moment);

    protected override void OnSession() => _looks = 0;

    protected override async Task StepAsync()
    {
        if (_looks == 0)
        {
            var nodes = Enumerable.Range(0, NodesEach).Select(place =>
                SendAsync(new ZooCall(ZooAct.Create, Own(place)) { Data = Session.Name, IsEphemeral = true }));
            await Task.WhenAll([.. nodes]);
        }

        _looks++;
        await LookAsync();
        if (_looks < 20) return;
        switch (Random.Next(3))
        {
            case 0:
                await SendAsync(new ZooCall(ZooAct.Close, ""));
                break;
            case 1:
                await SilentlyAsync(TimeSpan.FromMilliseconds(Random.Next(500, 2500)));
                break;
            default:
                // Beyond the time-out of the session, and a dead front end's lease; it may be alive all the same.
                await SilentlyAsync(TimeSpan.FromMilliseconds(Random.Next(9_000, 12_000)));
                break;
        }

        _looks = Math.Min(_looks, 10);
    }

    private string Own(int place) => $"{ZooPaths.Ephemerals}/{Session.Name}-{place}";

    private async Task LookAsync()
    {
        if (Chance(3)) await SendAsync(new ZooCall(ZooAct.Sync, ZooPaths.Ephemerals));
        await SendAsync(new ZooCall(ZooAct.Children, ZooPaths.Ephemerals));
        await SendAsync(new ZooCall(ZooAct.Exists, Own(Random.Next(NodesEach))));
    }

    private async Task SilentlyAsync(TimeSpan length)
    {
        _isSilent = true;
        Session.HangUp(length);
        await SendAsync(new ZooCall(ZooAct.Exists, Own(0)));
        _isSilent = false;
    }
}
