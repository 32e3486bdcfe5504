using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload;

// Past states and feeds, beside the objects that are open. The model has every state that there was, and every write.
public sealed partial class TangoWorkload
{
    private const double ShareOfPast = 0.02;
    private const int MostBack = 100;
    private const int MostAtOnce = 20;

    private async Task ReadPastAsync(int client, TangoClient tango, SimRandom random)
    {
        var at = new LogPosition(Math.Max(0, tango.Runtime.Log.PlayedTo.Offset - random.Next(MostBack)));
        try
        {
            TangoHistory past = await tango.Runtime.History.OpenAsync(at);
            List<KeyValuePair<string, long>> reads = [];
            foreach (string name in TangoClient.SoloKeys.Append("r0"))
            {
                var register = await past.OpenAsync<TangoRegister<string>>(name);
                reads.Add(KeyValuePair.Create(name, NumberOf(await register.ReadAsync())));
            }

            var cells = await past.OpenAsync<TangoDictionary<string, string>>(TangoClient.Cells);
            foreach (string key in s_keys)
            {
                if (!key.StartsWith(TangoClient.Cells, StringComparison.Ordinal)) continue;
                Lookup<string> found = await cells.TryGetAsync(key[(TangoClient.Cells.Length + 1)..]);
                reads.Add(KeyValuePair.Create(key, NumberOf(found.Found ? found.Value : null)));
            }

            history.Past.Add(new PastState(client, at.Offset, reads));
            monitor.Mark("past state read");
        }
        catch (TangoTrimmedException)
        {
            monitor.Mark("past state was trimmed");
        }
        catch (TangoDirectoryException)
        {
            monitor.Mark("there was no such object");
        }
    }

    /// <summary>Reads what changes a lone register, hosted here or not, and resumes now and then, until it is
    /// cancelled.</summary>
    public async Task ReadFeedAsync(int client, TangoClient tango, SimRandom random, CancellationToken stop)
    {
        if (!plan.Feeds || plan.IsOld(client)) return;
        string name = random.Pick(TangoClient.SoloKeys);
        var read = new FeedRead(client, name);
        history.Feeds.Add(read);
        var after = ChangePlace.Before(LogPosition.Zero);
        while (!stop.IsCancellationRequested)
        {
            try
            {
                int left = random.Between(1, MostAtOnce);
                await foreach (TangoChange<TangoRegister<string>> change in
                    tango.Runtime.History.ChangesAsync<TangoRegister<string>>(name, after, null, stop))
                {
                    await NoteAsync(read, change);
                    after = change.Place;
                    if (--left == 0) break;
                }

                monitor.Mark("feed resumed");
            }
            catch (OperationCanceledException) when (stop.IsCancellationRequested)
            {
            }
            catch (LogUnavailableException)
            {
                monitor.Mark("operation given up");
            }
            catch (TangoTrimmedException) when (plan.TrimsObjects)
            {
                monitor.Mark("feed fell behind a trim");
            }
        }
    }

    private async Task NoteAsync(FeedRead read, TangoChange<TangoRegister<string>> change)
    {
        if (change.Kind == TangoChangeKind.Progress) return;
        bool isReset = change.Kind == TangoChangeKind.Reset;
        if (isReset) monitor.Mark("feed was reset");
        string? value = isReset ? await change.State!.ReadAsync() : change.ReadArgument<string>();
        read.Changes.Add(new FeedChange(isReset, change.Place.Position.Offset, NumberOf(value)));
    }
}
