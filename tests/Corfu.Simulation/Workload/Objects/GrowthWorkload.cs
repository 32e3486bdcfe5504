using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// R20: the group grows while it is used. Half of the clients become newer at some moment: they know one member more,
/// and add it if it is not there. The others, and these before, play it without a view. To the model it is a register
/// like others, in the transactions of the clients that have it open. In some seeds it is removed at times, and is
/// added again: another register under the same name.
/// </summary>
internal sealed class GrowthWorkload(
    SeedPlan plan, ClusterMonitor monitor, RecordedCalls calls, DeletedObjects deleted) : ITangoWorkload
{
    private const int MostAtBirth = 4;
    private const int MostAtRemoval = 20;

    public IEnumerable<Detour> Detours =>
    [
        new(0.03, client => plan.Removes && client.AnnexKey is not null, (client, _) => RemoveAsync(client)),
        new(0.05, static client => client.AnnexKey is null && BecomesNewer(client), OpenAsync),
    ];

    /// <summary>Clients that became newer open the member, so that the checks have the views of all members.</summary>
    public async Task SettleAsync(TangoClient client)
    {
        if (BecomesNewer(client) && client.AnnexKey is null
            && await client.Runtime.Directory.ExistsAsync(TangoClient.AnnexName))
            await TryOpenAsync(client);
    }

    private static bool BecomesNewer(TangoClient client) => !client.IsOld && client.Number % 2 == 0;

    private async Task OpenAsync(TangoClient client, SimRandom random)
    {
        if (!await TryOpenAsync(client) || client.AnnexKey is not { } key) return;
        // In the member's stream alone, so that hosts that are behind find them there and nowhere else.
        for (int left = random.Next(MostAtBirth); left > 0; left--) await calls.UpdateAsync(client, key);
    }

    private async Task<bool> TryOpenAsync(TangoClient client)
    {
        try
        {
            bool isThere = await client.Runtime.Directory.ExistsAsync(TangoClient.AnnexName);
            await client.OpenAnnexAsync();
            monitor.Mark(isThere ? "member got its view" : "member added to a group");
            return true;
        }
        catch (Exception e) when (e is TangoInDoubtException || LogRefusal.Is(e))
        {
            monitor.Mark("new member in doubt");
            return false;
        }
        catch (TangoDirectoryException) when (plan.Removes)
        {
            monitor.Mark("new member removed meanwhile");
            return false;
        }
    }

    /// <summary>While it is used, by this client too: some of the writes stand behind the removal.</summary>
    private async Task RemoveAsync(TangoClient client)
    {
        string key = client.AnnexKey!;
        ObjectId id = DeletedObjects.IdOf(client.FindAnnex(key)!);
        Task removal = DeleteAsync();
        await Task.WhenAll(removal, WriteOnAsync());

        async Task DeleteAsync()
        {
            try
            {
                await client.Runtime.Directory.DeleteAsync(TangoClient.AnnexName);
                // If another one had the name, this one was removed before.
                deleted.Add(id);
                monitor.Mark("member removed from a group");
            }
            catch (TangoDirectoryException)
            {
                monitor.Mark("member was removed meanwhile");
            }
            catch (Exception e) when (e is TangoInDoubtException || LogRefusal.Is(e))
            {
                monitor.Mark("removal in doubt");
            }
        }

        async Task WriteOnAsync()
        {
            for (int left = MostAtRemoval; left > 0 && !removal.IsCompleted; left--)
                await calls.UpdateAsync(client, key);
        }
    }
}
