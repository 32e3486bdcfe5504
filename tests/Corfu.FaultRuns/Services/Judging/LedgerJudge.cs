namespace Corfu.FaultRuns.Services.Judging;

/// <summary>Compares what processes were told of ledgers with their entries.</summary>
internal static class LedgerJudge
{
    public static void Judge(ServicesHistory history, ServicesAudit audit, ServicesVerdict verdict)
    {
        var seen = new Dictionary<string, (long Ledger, int Entry)>();
        foreach (var (ledger, values) in audit.Ledgers)
        {
            for (var entry = 0; entry < values.Count; entry++)
            {
                if (!seen.TryAdd(values[entry], (ledger, entry)))
                    verdict.LedgerTwice(
                        $"{values[entry]} is entry {entry} of ledger {ledger}, and {seen[values[entry]]}");
            }
        }

        foreach (var (ledger, last) in history.Ends)
        {
            if (LastOf(ledger) is var found && found != last)
                verdict.AfterFence($"ledger {ledger} ended at {last}, and ends at {found}");
        }

        var ends = history.Ends.GroupBy(static end => end.Ledger)
            .ToDictionary(static end => end.Key, static end => end.Min(static one => one.Last));
        foreach (var ack in history.Acks)
        {
            if (ends.TryGetValue(ack.Ledger, out var end) && ack.Entry > end)
                verdict.AfterFence($"{ack.Value} is acknowledged as entry {ack.Entry} of ledger {ack.Ledger}, which "
                    + $"ended at {end}");
            else if (ValueOf(ack.Ledger, ack.Entry) is var value && value != ack.Value)
                verdict.LedgerLost($"{ack.Value} is not entry {ack.Entry} of ledger {ack.Ledger}: '{value}'");
        }

        foreach (var (ledger, entry, value) in history.Entries)
        {
            if (ValueOf(ledger, entry) is var found && found != value)
                verdict.LedgerLost($"entry {entry} of ledger {ledger} read as {value}, and is '{found}'");
        }

        var floors = history.Acks.GroupBy(static ack => ack.Ledger).ToDictionary(
            static acks => acks.Key, static acks => new Floors(acks.Select(static ack => (ack.Ended, ack.Entry))));
        foreach (var (ledger, began, last) in history.Confirmed)
        {
            if (last > LastOf(ledger)) verdict.LedgerLost($"entry {last} of ledger {ledger} was confirmed");
            if (floors.TryGetValue(ledger, out var acked) && acked.Before(began) is var floor && last < floor)
                verdict.LedgerStale($"entry {last} of ledger {ledger} was the last one when {floor} was acknowledged");
        }

        long LastOf(long ledger) => audit.Ledgers.TryGetValue(ledger, out var values) ? values.Count - 1 : -1;

        string ValueOf(long ledger, long entry) =>
            entry <= LastOf(ledger) ? audit.Ledgers[ledger][(int)entry] : "";
    }
}
