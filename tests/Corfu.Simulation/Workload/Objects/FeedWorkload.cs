using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Reads what changes a lone register, hosted here or not, and resumes now and then. The model has every
/// write.</summary>
internal sealed class FeedWorkload(SeedPlan plan, TxHistory history, ClusterMonitor monitor) : ITangoWorkload
{
    private const int MostAtOnce = 20;

    public async Task RunBesideAsync(TangoClient client, SimRandom random, CancellationToken stop)
    {
        if (client.IsOld) return;
        string name = random.Pick(TangoClient.SoloKeys);
        var read = new FeedRead(client.Number, name);
        history.Feeds.Add(read);
        var after = ChangePlace.Before(LogPosition.Zero);
        while (!stop.IsCancellationRequested)
        {
            try
            {
                int left = random.Between(1, MostAtOnce);
                await foreach (TangoChange<TangoRegister<string>> change in
                    client.Runtime.History.ChangesAsync<TangoRegister<string>>(name, after, null, stop))
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
        read.Changes.Add(new FeedChange(isReset, change.Place.Position.Offset, WrittenValue.NumberOf(value)));
    }
}
