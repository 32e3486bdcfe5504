using System.Globalization;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Tango;
using Tango.Ledgers;

namespace Corfu.Simulation.Services;

/// <summary>A process that writes some ledgers, and reads, recovers and deletes all.</summary>
internal sealed class LedgerProcess(
    SimClientNode node, TangoRuntime runtime, LedgerStore store, LedgerMonitor monitor) : IServiceProcess
{
    private const double ShareOfWrites = 0.5;
    private const double ShareOfReads = 0.2;
    private const double ShareOfRecoveries = 0.1;
    private const double ShareOfCloses = 0.08;
    private const double ShareOfDeletions = 0.07;
    private const double ShareOfNew = 0.15;
    private const double ShareOfOldIds = 0.3;
    private const double ShareOfOldReaders = 0.5;
    private const int MostOwn = 3;
    private const int MostEntries = 8;
    private const int MostRead = 20;

    private readonly List<(LedgerWriter Writer, LedgerFact Fact)> _own = [];

    // Ledgers are moved and deleted under their readers (B15).
    private readonly Dictionary<LedgerFact, LedgerReader> _readers = [];

    /// <summary>The call did nothing that is known, and may be repeated.</summary>
    public static bool IsPassing(Exception e) => LogRefusal.Is(e) || e is TangoInDoubtException
        or TangoTrimmedException or LedgerException { Error: LedgerError.LedgerInDoubt };

    private static bool IsMissing(Exception e) => e is LogTrimmedException
        or LedgerException { Error: LedgerError.LedgerNotFound or LedgerError.NoSuchEntry };

    public async Task StepAsync(SimRandom random)
    {
        try
        {
            await DrawAsync(random);
        }
        catch (Exception e) when (IsPassing(e))
        {
            monitor.Mark(e is LedgerException or TangoInDoubtException ? "ledger in doubt" : "operation given up");
        }
    }

    public async Task AuditAsync()
    {
        foreach (LedgerFact fact in monitor.All)
        {
            if (fact.Id is not null) await PatientlyAsync(() => RecoverAsync(fact, readsAll: true));
        }
    }

    public async ValueTask DisposeAsync()
    {
        await store.DisposeAsync();
        await runtime.DisposeAsync();
    }

    private Task DrawAsync(SimRandom random)
    {
        double draw = random.NextDouble();
        if ((draw -= ShareOfWrites) < 0) return WriteAsync(random);
        LedgerFact[] known = [.. monitor.All.Where(static fact => fact is { Id: not null, IsDeleted: false })];
        if (known.Length == 0) return Task.CompletedTask;
        LedgerFact fact = random.Pick(known);
        if ((draw -= ShareOfReads) < 0) return ReadAsync(fact, random);
        if ((draw -= ShareOfRecoveries) < 0) return RecoverAsync(fact, readsAll: false);
        if ((draw -= ShareOfCloses) < 0) return CloseAsync(random);
        if ((draw -= ShareOfDeletions) < 0) return DeleteAsync(fact);
        return MoveAsync();
    }

    private async Task WriteAsync(SimRandom random)
    {
        if (_own.Count == 0 || _own.Count < MostOwn && random.Chance(ShareOfNew)) await CreateAsync(random);
        if (_own.Count == 0) return;
        var (writer, fact) = random.Pick(_own);
        await Task.WhenAll(Enumerable.Range(0, random.Between(1, MostEntries)).Select(_ => AppendAsync(writer, fact)));
    }

    private async Task CreateAsync(SimRandom random)
    {
        LedgerId[] old = [.. monitor.All.Where(static fact => fact.IsDeleted).Select(static fact => fact.Id!.Value)];
        LedgerFact fact = monitor.New();
        var spec = new LedgerSpec
        {
            Id = old.Length > 0 && random.Chance(ShareOfOldIds) ? random.Pick(old) : null,
            Metadata = new Dictionary<string, string>
            {
                [LedgerFact.InstanceKey] = fact.Instance.ToString(CultureInfo.InvariantCulture),
            },
        };
        try
        {
            LedgerWriter writer = await store.CreateAsync(spec);
            monitor.Created(fact, writer.Id);
            fact.Writer = node.Process;
            _own.Add((writer, fact));
            if (spec.Id is not null) monitor.Mark("ledger created under an old id");
        }
        catch (LedgerException e) when (e.Error == LedgerError.LedgerExists)
        {
            monitor.Mark("ledger id taken");
        }
    }

    private async Task AppendAsync(LedgerWriter writer, LedgerFact fact)
    {
        long entry = writer.LastPushed + 1;
        try
        {
            monitor.Acknowledged(fact, entry, await writer.AppendAsync(fact.DataOf(entry)));
        }
        catch (LedgerException e) when (e.Error == LedgerError.WriterBusy)
        {
            monitor.Mark("ledger writer busy");
        }
        catch (Exception e) when (e is CorfuException or LedgerException)
        {
            monitor.Mark(e is LedgerException { Error: LedgerError.LedgerFenced } ? "ledger writer met a fence"
                : "ledger writer ended");
            if (_own.RemoveAll(own => own.Writer == writer) > 0) await writer.DisposeAsync();
            fact.Writer = null;
        }
    }

    private async Task CloseAsync(SimRandom random)
    {
        if (_own.Count == 0) return;
        var (writer, fact) = random.Pick(_own);
        try
        {
            LedgerMetadata closed = await writer.CloseAsync();
            monitor.Ended(fact, closed.LastEntry);
            monitor.Mark("ledger closed by its writer");
        }
        catch (LedgerException e) when (e.Error is LedgerError.LedgerFenced or LedgerError.LedgerNotFound)
        {
            monitor.Fenced(fact);
            monitor.Mark("ledger close met a fence");
        }

        _own.RemoveAll(own => own.Writer == writer);
        fact.Writer = null;
    }

    private async Task RecoverAsync(LedgerFact wanted, bool readsAll)
    {
        try
        {
            wanted.IsFenced = true;
            if (wanted.Writer is { Alive: true } && wanted.Writer != node.Process)
                monitor.Mark("ledger recovered under its writer");
            LedgerReader reader = await store.RecoverAsync(wanted.Id!.Value);
            LedgerFact fact = monitor.Of(reader);
            if (fact != wanted) NoteGone(wanted);
            monitor.Ended(fact, reader.LastConfirmed);
            if (readsAll) await ReadAsync(fact, reader, 0, reader.LastConfirmed);
        }
        catch (Exception e) when (IsMissing(e))
        {
            monitor.Missing(wanted, e);
        }
    }

    private async Task ReadAsync(LedgerFact wanted, SimRandom random)
    {
        long floor = wanted.Acknowledged;
        try
        {
            LedgerReader reader = _readers.TryGetValue(wanted, out var known) && random.Chance(ShareOfOldReaders)
                ? known
                : _readers[wanted] = await store.OpenAsync(wanted.Id!.Value);
            LedgerFact fact = monitor.Of(reader);
            if (fact != wanted)
            {
                NoteGone(wanted);
                return;
            }

            long last = await reader.ReadLastConfirmedAsync();
            monitor.Confirmed(fact, last, floor);
            if (last < 0) return;
            long first = random.Next(last + 1);
            await ReadAsync(fact, reader, first, Math.Min(last, first + MostRead));
        }
        catch (Exception e) when (IsMissing(e))
        {
            monitor.Missing(wanted, e);
        }
    }

    private async Task ReadAsync(LedgerFact fact, LedgerReader reader, long first, long last)
    {
        if (last < first) return;
        long next = first;
        await foreach (LedgerEntry entry in reader.ReadAsync(first, last)) monitor.Read(fact, next++, entry);
        if (next <= last) monitor.Kept(fact, $"has no entry {next} below its last one {last}");
    }

    private async Task DeleteAsync(LedgerFact fact)
    {
        LedgerDeletion deletion = monitor.Deleting(fact.Id!.Value);
        await store.DeleteAsync(deletion.Id);
        monitor.Deleted(fact, deletion);
    }

    private async Task MoveAsync()
    {
        LogCheck check = await node.Log!.CheckAsync([]);
        try
        {
            if (await store.MoveAsync(check.Tail) > 0) monitor.Mark("ledger moved");
        }
        catch (TangoException e) when (e.InnerException is { } reason && IsPassing(reason))
        {
            monitor.Mark("ledger not moved");
        }
    }

    private void NoteGone(LedgerFact fact)
    {
        if (!fact.IsDeleting) monitor.Kept(fact, "is there, and its id is another ledger's");
    }

    private async Task PatientlyAsync(Func<Task> work)
    {
        while (true)
        {
            try
            {
                await work();
                return;
            }
            catch (Exception e) when (IsPassing(e))
            {
                monitor.Mark("operation given up");
            }
        }
    }
}
