using System.Globalization;
using Corfu.Simulation.Cluster;
using Tango.Ledgers;

namespace Corfu.Simulation.Services;

/// <summary>All ledgers of a run. Looks at each answer as it comes.</summary>
internal sealed class LedgerMonitor(ClusterMonitor monitor)
{
    private readonly List<LedgerFact> _all = [];

    // A deletion goes by the id. It may meet a ledger whose creation has not returned, or that came after it began.
    private readonly List<LedgerDeletion> _deletions = [];
    private long _events;

    public IReadOnlyList<LedgerFact> All => _all;

    public void Mark(string situation) => monitor.Mark(situation);

    public LedgerFact New()
    {
        var fact = new LedgerFact(_all.Count, ++_events);
        _all.Add(fact);
        return fact;
    }

    /// <summary>A creation has returned.</summary>
    public void Created(LedgerFact fact, LedgerId id)
    {
        fact.Id = id;
        if (!_deletions.Exists(deletion => deletion.Id == id && !(deletion.Ended < fact.Began))) return;
        fact.IsDeleting = true;
        Mark("ledger created beside a deletion of its id");
    }

    /// <summary>A deletion begins. One that does not return may take effect at any time.</summary>
    public LedgerDeletion Deleting(LedgerId id)
    {
        foreach (LedgerFact fact in _all.Where(fact => fact.Id == id)) fact.IsDeleting = true;
        var deletion = new LedgerDeletion(id);
        _deletions.Add(deletion);
        return deletion;
    }

    /// <summary>A deletion has returned.</summary>
    public void Deleted(LedgerFact fact, LedgerDeletion deletion)
    {
        fact.IsDeleted = true;
        deletion.Ended = ++_events;
        Mark("ledger deleted");
    }

    /// <summary>The ledger that a reader has opened, which may be another one of the same id.</summary>
    public LedgerFact Of(LedgerReader reader) => _all[int.Parse(
        reader.Metadata.Metadata[LedgerFact.InstanceKey], CultureInfo.InvariantCulture)];

    /// <summary>An append has returned.</summary>
    public void Acknowledged(LedgerFact fact, long expected, long entry)
    {
        if (entry != expected) Ack(fact, $"entry {expected} is acknowledged as {entry}");
        fact.Acknowledged = Math.Max(fact.Acknowledged, entry);
        // B3 to B6: at any time, also behind the recovery.
        if (fact.End < entry) Ack(fact, $"entry {entry} is acknowledged, and {fact.End} is the last one");
    }

    /// <summary>A recovery or a close has returned.</summary>
    public void Ended(LedgerFact fact, long last)
    {
        // B2, B7, B8: one end for all.
        if (fact.End is { } end && end != last)
            monitor.Found(CheckerNames.LedgerEnd, $"{Name(fact)} ends at {last}, and ended at {end} before");
        fact.End = last;
        if (fact.Acknowledged > last) Ack(fact, $"ends at {last}, and {fact.Acknowledged} was acknowledged");
        if (fact.Confirmed > last) Ack(fact, $"ends at {last}, and {fact.Confirmed} was confirmed");
    }

    /// <summary>A reader has asked for the last confirmed entry.</summary>
    /// <param name="floor">The entry that was acknowledged before it asked.</param>
    public void Confirmed(LedgerFact fact, long last, long floor)
    {
        // B11.
        if (last < floor) Ack(fact, $"{last} is confirmed, and {floor} was acknowledged before");
        if (fact.End < last) Ack(fact, $"{last} is confirmed, and {fact.End} is the last one");
        fact.Confirmed = Math.Max(fact.Confirmed, last);
    }

    /// <summary>A reader has read an entry.</summary>
    public void Read(LedgerFact fact, long expected, LedgerEntry entry)
    {
        if (entry.Id != expected || !entry.Data.Span.SequenceEqual(fact.DataOf(expected)))
            Kept(fact, $"entry {expected} reads as {entry.Id}: {Convert.ToHexString(entry.Data.Span)}");
    }

    /// <summary>A call has not found a ledger, or an entry below its last confirmed one.</summary>
    public void Missing(LedgerFact fact, Exception reason)
    {
        // B15: a ledger that goes while it is opened or read is told as not found, never as a trim.
        if (!fact.IsDeleting || reason is LogTrimmedException) Kept(fact, $"is there: {reason.Message}");
    }

    /// <summary>A close is told that another process has ended its ledger.</summary>
    public void Fenced(LedgerFact fact)
    {
        // B14.
        if (!fact.IsFenced && !fact.IsDeleting)
            monitor.Found(
                CheckerNames.LedgerEnd, $"{Name(fact)} is closed by its writer alone, and was told as fenced");
    }

    public void Kept(LedgerFact fact, string what) => monitor.Found(CheckerNames.LedgerKept, $"{Name(fact)} {what}");

    private void Ack(LedgerFact fact, string what) => monitor.Found(CheckerNames.LedgerAck, $"{Name(fact)} {what}");

    private static string Name(LedgerFact fact) => $"ledger {fact.Id} ({fact.Instance})";
}

/// <summary>A call that deletes the ledger of an id.</summary>
internal sealed class LedgerDeletion(LedgerId id)
{
    public LedgerId Id => id;

    /// <summary>Place of its end among the events of the run; null: it has not returned.</summary>
    public long? Ended { get; set; }
}
