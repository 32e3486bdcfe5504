using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload;

// R20: the group grows while it is used. Half of the clients become newer at some moment: they know one member more,
// and add it if it is not there. The others, and these before, play it without a view. To the model it is a register
// like others, in the transactions of those who have it open. In some seeds it is removed at times, and is added again:
// another register under the same name.
public sealed partial class TangoWorkload
{
    private const double ShareOfGrowth = 0.05;
    private const int MostAtBirth = 4;
    private const double ShareOfRemovals = 0.03;
    private const int MostAtRemoval = 20;

    private bool BecomesNewer(int client) => plan.Grows && !plan.IsOld(client) && client % 2 == 0;

    private async Task OpenAnnexAsync(int client, TangoClient tango, SimRandom random)
    {
        if (!await TryOpenAnnexAsync(tango) || tango.AnnexKey is not { } key) return;
        // In the member's stream alone, so that hosts that are behind find them there and nowhere else.
        for (int left = random.Next(MostAtBirth); left > 0; left--)
            await UpdateAsync(client, tango, key, 0);
    }

    private async Task<bool> TryOpenAnnexAsync(TangoClient tango)
    {
        try
        {
            bool isThere = await tango.Runtime.Directory.ExistsAsync(TangoClient.AnnexName);
            await tango.OpenAnnexAsync();
            monitor.Mark(isThere ? "member got its view" : "member added to a group");
            return true;
        }
        catch (Exception e) when (e is TangoInDoubtException || IsLogsRefusal(e))
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
    private async Task RemoveAnnexAsync(int client, TangoClient tango)
    {
        string key = tango.AnnexKey!;
        ObjectId id = IdOf(tango.FindAnnex(key)!);
        Task removal = RemoveAsync();
        await Task.WhenAll(removal, WriteOnAsync());

        async Task RemoveAsync()
        {
            try
            {
                await tango.Runtime.Directory.DeleteAsync(TangoClient.AnnexName);
                // If another one had the name, this one was removed before.
                _gone.Add(id);
                monitor.Mark("member removed from a group");
            }
            catch (TangoDirectoryException)
            {
                monitor.Mark("member was removed meanwhile");
            }
            catch (Exception e) when (e is TangoInDoubtException || IsLogsRefusal(e))
            {
                monitor.Mark("removal in doubt");
            }
        }

        async Task WriteOnAsync()
        {
            for (int left = MostAtRemoval; left > 0 && !removal.IsCompleted; left--)
                await UpdateAsync(client, tango, key, 0);
        }
    }

    private void LoseAnnex(TangoClient tango, TangoObjectDeletedException told)
    {
        monitor.Mark("removed member refused");
        tango.LoseAnnex(TxHistory.KeyOfTemporary(told.ObjectId.Value));
    }

    /// <summary>At the end, for what has to have the views of all members.</summary>
    private async Task OpenExistingAnnexAsync(int client, TangoClient tango)
    {
        if (BecomesNewer(client) && tango.AnnexKey is null
            && await tango.Runtime.Directory.ExistsAsync(TangoClient.AnnexName))
            await TryOpenAnnexAsync(tango);
    }
}
