using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload;

// Forks of the lone registers, under two names for all clients: of two at once, one wins. What a fork begins with is a
// past state of its source, which the model has.
public sealed partial class TangoWorkload
{
    private const double ShareOfForks = 0.7;
    private const double ShareOfForkDeletions = 0.3;

    // No value of the model: forks are written beside it.
    private const string Apart = "apart";
    private static readonly string[] s_forks = ["f0", "f1"];

    private async Task ForkOrDeleteAsync(int client, TangoClient tango, SimRandom random)
    {
        string name = random.Pick(s_forks);
        try
        {
            if (random.Chance(ShareOfForkDeletions)) await tango.Runtime.Directory.DeleteAsync(name);
            else await ForkAsync(client, tango, name, random);
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
        catch (Exception e) when (IsLogsRefusal(e))
        {
            monitor.Mark("operation given up");
        }
    }

    private async Task ForkAsync(int client, TangoClient tango, string name, SimRandom random)
    {
        string source = random.Pick(TangoClient.SoloKeys);
        var at = new LogPosition(Math.Max(0, tango.Runtime.Log.PlayedTo.Offset - random.Next(MostBack)));
        DirectoryEntry made = await tango.Runtime.History.ForkAsync(source, at, name);
        monitor.Mark("object forked");
        TangoRegister<string> fork = await tango.Runtime.OpenAsync<TangoRegister<string>>(name, OpenMode.Create);
        // Another client has deleted it and made another one.
        if (IdOf(fork) != made.Id) return;
        string? first = await fork.ReadAsync();
        history.Past.Add(new PastState(client, at.Offset, [KeyValuePair.Create(source, NumberOf(first))]));
        await fork.WriteAsync(Apart);
        string? own = await fork.ReadAsync();
        if (own != Apart)
            monitor.Found(CheckerNames.Past, $"client {client} wrote to the fork {made.Id} and reads {own}");
    }
}
