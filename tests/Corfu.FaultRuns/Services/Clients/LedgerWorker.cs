using System.Text;
using Corfu.FaultRuns.Clients;
using Tango.Ledgers;

namespace Corfu.FaultRuns.Services.Clients;

/// <summary>Writes ledgers of its own, one after another, and reads and recovers the newest ones of all
/// processes.</summary>
internal sealed class LedgerWorker(LedgerStore ledgers, HistoryWriter history, string name)
{
    private const int Window = 8;
    private const int Full = 400;

    // Ledgers that are looked at.
    private const int Newest = 6;

    private LedgerWriter? _writer;
    private long _number;
    private long _known;

    public async Task<bool> WriteAsync(Random random)
    {
        _writer ??= await ledgers.CreateAsync();
        var writer = _writer;
        var appends = Enumerable.Range(0, random.Next(1, Window + 1)).Select(_ => AppendAsync(writer)).ToArray();
        if (!(await Task.WhenAll(appends)).All(static isDone => isDone))
        {
            _writer = null;
            await writer.DisposeAsync();
            return false;
        }

        if (writer.LastConfirmed < Full) return true;
        _writer = null;
        // Half of the ledgers are left open, for others to recover.
        if (random.Next(2) == 0) Ended(writer.Id, (await writer.CloseAsync()).LastEntry);
        await writer.DisposeAsync();
        return true;
    }

    public async Task<bool> LookAsync(Random random)
    {
        while (await ledgers.FindAsync(new LedgerId(_known)) is not null) _known++;
        if (_known == 0) return true;
        var id = new LedgerId(Math.Max(0, _known - 1 - random.Next(Newest)));
        if (random.Next(8) == 0)
        {
            Ended(id, (await ledgers.RecoverAsync(id)).LastConfirmed);
            return true;
        }

        var began = HistoryWriter.Now;
        var reader = await ledgers.OpenAsync(id);
        var last = await reader.ReadLastConfirmedAsync();
        history.Line($"confirmed\t{id}\t{began}\t{ServicesClient.Text(last)}");
        if (last < 0) return true;
        var first = random.NextInt64(last + 1);
        await foreach (var entry in reader.ReadAsync(first, Math.Min(last, first + Window)))
            history.Line($"entry\t{id}\t{ServicesClient.Text(entry.Id)}\t{ValueIn(entry)}");
        return true;
    }

    public static string ValueIn(LedgerEntry entry) => Encoding.UTF8.GetString(entry.Data.Span);

    private async Task<bool> AppendAsync(LedgerWriter writer)
    {
        var value = $"{name}-{ServicesClient.Text(Interlocked.Increment(ref _number))}";
        try
        {
            var entry = await writer.AppendAsync(Encoding.UTF8.GetBytes(value));
            history.Line($"acked\t{writer.Id}\t{HistoryWriter.Now}\t{ServicesClient.Text(entry)}\t{value}");
            return true;
        }
        catch (Exception e) when (ServicesClient.IsExpected(e)
            || e is LedgerException { Error: LedgerError.LedgerFenced or LedgerError.LedgerClosed })
        {
            // The writer has ended. What became of the entry, the ledger's recovery decides.
            return false;
        }
    }

    private void Ended(LedgerId id, long last) => history.Line($"ended\t{id}\t{ServicesClient.Text(last)}");
}
