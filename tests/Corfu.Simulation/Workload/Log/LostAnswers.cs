using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>A caller of a front end whose answer never came: the append is settled by its origin and its bound, while
/// the front end is at it, or before it wakes up and begins. The checker compares with the log.</summary>
internal sealed class LostAnswers(World world, LogHistory history, ClusterMonitor monitor, Ledger ledger)
{
    private static readonly WriterId s_caller = new(new Guid("ca11ca11-ca11-ca11-ca11-ca11ca11ca11"));

    public async Task LoseAsync(int client, IDelegatedLog log, SimRandom random)
    {
        long id = ledger.NextPayload();
        var terms = new AppendTerms(new EntryOrigin(s_caller, id), null);
        LogPosition from = (await log.CheckAsync([])).Tail;
        terms = terms with { Below = from + random.Between(1, 12) };
        int slot = history.Appends.Count;
        var op = new AppendOp(client, id, [], world.Steps, LogHistory.Never, AppendFate.Unknown, -1);
        history.Appends.Add(op);
        bool isLate = random.Chance(0.5);
        Task appending = isLate ? Task.CompletedTask : AppendUnheardAsync(log, id, terms);
        try
        {
            AppendResult settled =
                (await log.SettleAsync([terms.Origin!.Value], from, terms.Below!.Value, CancellationToken.None))[0];
            if (settled.Outcome != AppendOutcome.Unknown) monitor.Mark($"lost append settled as {settled.Outcome}");
            history.Appends[slot] = settled.Outcome switch
            {
                AppendOutcome.Appended => op with
                {
                    End = world.Steps,
                    Outcome = AppendFate.Acknowledged,
                    Position = settled.Position.Offset,
                },
                AppendOutcome.NotAppended => op with
                {
                    End = world.Steps,
                    Outcome = AppendFate.Refused,
                },
                _ => op,
            };
            if (isLate && settled.Outcome == AppendOutcome.NotAppended) await AppendUnheardAsync(log, id, terms);
        }
        finally
        {
            await appending;
        }
    }

    private async Task AppendUnheardAsync(IDelegatedLog log, long id, AppendTerms terms)
    {
        try
        {
            await log.AppendAsync(LogPayload.Of(id, 0), [], terms, CancellationToken.None);
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            monitor.Mark("operation given up");
        }
    }
}
