using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Forks of the lone registers, under two names for all clients: of two at once, one wins. A fork begins with
/// a past state of its source, which the model has.</summary>
/// <param name="past">Gets the visits to the past that make or delete no fork.</param>
internal sealed class ForkWorkload(TxHistory history, ClusterMonitor monitor, PastWorkload past) : ITangoWorkload
{
    public static readonly string[] Names = ["f0", "f1"];

    private const double Share = 0.7;
    private const double ShareOfDeletions = 0.3;

    // No value of the model: forks are written beside it.
    private const string Apart = "apart";

    public IEnumerable<Detour> Detours =>
    [
        new(PastWorkload.Chance, static client => !client.IsOld, (client, random) =>
            random.Chance(Share) ? ForkOrDeleteAsync(client, random) : past.ReadAsync(client, random)),
    ];

    private async Task ForkOrDeleteAsync(TangoClient client, SimRandom random)
    {
        string name = random.Pick(Names);
        try
        {
            if (random.Chance(ShareOfDeletions)) await client.Runtime.Directory.DeleteAsync(name);
            else await ForkAsync(client, name, random);
        }
        catch (TangoTrimmedException)
        {
            monitor.Mark("past state was trimmed");
        }
        catch (TangoObjectDeletedException)
        {
            monitor.Mark("deleted object refused");
        }
        catch (TangoDirectoryException)
        {
            monitor.Mark("name of a fork was taken or free");
        }
        catch (TangoInDoubtException)
        {
            monitor.Mark("fork in doubt");
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            monitor.Mark("operation given up");
        }
    }

    private async Task ForkAsync(TangoClient client, string name, SimRandom random)
    {
        string source = random.Pick(TangoClient.SoloKeys);
        LogPosition at = PastWorkload.PickPosition(client, random);
        DirectoryEntry made = await client.Runtime.History.ForkAsync(source, at, name);
        monitor.Mark("object forked");
        TangoRegister<string> fork = await client.Runtime.OpenAsync<TangoRegister<string>>(name, OpenMode.Create);
        // Another client has deleted it and made another one.
        if (DeletedObjects.IdOf(fork) != made.Id) return;
        string? first = await fork.ReadAsync();
        history.Past.Add(
            new PastState(client.Number, at.Offset, [KeyValuePair.Create(source, WrittenValue.NumberOf(first))]));
        await fork.WriteAsync(Apart);
        string? own = await fork.ReadAsync();
        if (own != Apart)
            monitor.Found(CheckerNames.Past, $"client {client.Number} wrote to the fork {made.Id} and reads {own}");
    }
}
