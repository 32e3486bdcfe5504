using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload;

// R20: the group grows while it is used. Half of the clients become newer at some moment: they know one member more,
// and add it if it is not there. The others, and these before, play it without a view. To the model it is a register
// like others, in the transactions of those who have it open.
public sealed partial class TangoWorkload
{
    private const double ShareOfGrowth = 0.05;
    private const int MostAtBirth = 4;

    private bool BecomesNewer(int client) => plan.Grows && !plan.IsOld(client) && client % 2 == 0;

    private async Task OpenAnnexAsync(int client, TangoClient tango, SimRandom random)
    {
        if (!await TryOpenAnnexAsync(tango)) return;
        // In the member's stream alone, so that hosts that are behind find them there and nowhere else.
        for (int left = random.Next(MostAtBirth); left > 0; left--)
            await UpdateAsync(client, tango, TangoClient.AnnexKey, 0);
    }

    private async Task<bool> TryOpenAnnexAsync(TangoClient tango)
    {
        try
        {
            bool isThere = await tango.Runtime.ExistsAsync(TangoClient.AnnexKey);
            await tango.OpenAnnexAsync();
            monitor.Mark(isThere ? "member got its view" : "member added to a group");
            return true;
        }
        catch (Exception e) when (e is TangoInDoubtException || IsLogsRefusal(e))
        {
            monitor.Mark("new member in doubt");
            return false;
        }
    }

    /// <summary>At the end, for what has to have the views of all members.</summary>
    private async Task OpenExistingAnnexAsync(int client, TangoClient tango)
    {
        if (BecomesNewer(client) && tango.Annex is null && await tango.Runtime.ExistsAsync(TangoClient.AnnexKey))
            await TryOpenAnnexAsync(tango);
    }
}
