using Corfu.Simulation.Cluster;
using Corfu.Store;

namespace Corfu.Simulation.Services;

/// <summary>A store as its changes have it, and all that processes were told of it. Looks at each answer as it
/// comes.</summary>
internal sealed class StoreMonitor(ClusterMonitor monitor)
{
    private readonly List<StoreWriteFact> _writes = [];
    private readonly List<StoreDeletionFact> _deletions = [];

    // The changes of each revision as they were told first: by key, the write, or null for a deletion.
    private readonly Dictionary<long, SortedDictionary<string, long?>> _changes = [];

    // Whole maps by revision; the first two have no key.
    private readonly List<SortedDictionary<string, Row>> _maps = [NewMap(), NewMap()];

    // Reads of revisions that are not known yet.
    private readonly List<(long Revision, string Who, Func<SortedDictionary<string, Row>, string> Expected,
        string Found)> _reads = [];

    // Revisions that a watch passed over, which nothing has named.
    private readonly HashSet<long> _silent = [];

    /// <summary>All changes up to here have been told.</summary>
    public long Known => _maps.Count - 1;

    /// <summary>The greatest revision that a process was told: the floor of every later read.</summary>
    public long Answered { get; private set; } = 1;

    /// <summary>Compactions were asked for up to here.</summary>
    public long Compacted { get; set; } = 1;

    public void Mark(string situation) => monitor.Mark(situation);

    public StoreWriteFact New(params string[] keys)
    {
        var write = new StoreWriteFact(_writes.Count, keys);
        _writes.Add(write);
        return write;
    }

    /// <param name="key">Null: all.</param>
    public StoreDeletionFact Deleting(string? key)
    {
        var deletion = new StoreDeletionFact(key);
        _deletions.Add(deletion);
        return deletion;
    }

    /// <summary>A process was told that its write took effect.</summary>
    public void Ended(StoreWriteFact write, long revision)
    {
        write.Told = revision;
        Answer(revision);
        if (write.IsVoid || (write.Seen is { } seen && seen != revision))
            Revision($"write {write.Id} is told as revision {revision}, and was {write.Seen}");
        if (_changes.TryGetValue(revision, out var changes) && !changes.ContainsValue(write.Id))
            Revision($"write {write.Id} is told as revision {revision}, which is {Show(changes)}");
        if (_silent.Contains(revision)) Missed($"revision {revision} of write {write.Id}");
    }

    /// <summary>A process was told that its write changes nothing, now or later.</summary>
    public void Voided(StoreWriteFact write)
    {
        write.IsVoid = true;
        if (write.Seen is { } seen) Revision($"write {write.Id} is told as void, and made revision {seen}");
    }

    /// <summary>A condition of a key's value was decided.</summary>
    /// <param name="found">As the transaction has met the key; null: there was none.</param>
    public void Compared(string who, StoreEntry operand, StoreEntry? found, bool held)
    {
        bool holds = found is not null && found.Value.Span.SequenceEqual(operand.Value.Span);
        if (holds != held) Revision($"{who}: a comparison of {operand.Key} is {held}, and its value makes it {holds}");
    }

    /// <summary>A process was told of a revision, by whatever call.</summary>
    public void Answer(long revision) => Answered = Math.Max(Answered, revision);

    /// <summary>A watch goes from one revision to a later one, and tells nothing between.</summary>
    public void Passed(string who, long from, long to)
    {
        for (long revision = from; revision < to; revision++)
        {
            if (_changes.ContainsKey(revision) || _writes.Exists(write => write.Told == revision))
                Missed($"{who}: revision {revision}");
            else if (_silent.Add(revision)) monitor.Mark("store revision unheard");
        }
    }

    /// <summary>A watch has told the changes of a revision.</summary>
    public void Told(string who, StoreChanges told)
    {
        var changes = new SortedDictionary<string, long?>(StringComparer.Ordinal);
        foreach (StoreChange change in told.Changes)
        {
            long? write = change.IsDeletion ? null : StoreWriteFact.IdIn(change.Entry.Value);
            if (!changes.TryAdd($"{change.Key}", write))
                Missed($"{who}: {change.Key} comes twice in revision {told.Revision}");
        }

        if (_silent.Contains(told.Revision)) Missed($"{who} tells revision {told.Revision}, which another watch");
        if (!_changes.TryAdd(told.Revision, changes))
        {
            string before = Show(_changes[told.Revision]);
            if (before != Show(changes))
                Revision($"{who}: revision {told.Revision} is {Show(changes)}, and was {before}");
            return;
        }

        foreach (var written in changes.Where(static one => one.Value is not null).GroupBy(static one => one.Value))
            See(told.Revision, written.Key!.Value, [.. written.Select(static one => one.Key)]);
        while (_changes.TryGetValue(Known + 1, out var next)) _maps.Add(Apply(_maps[^1], next, Known + 1));
        _reads.RemoveAll(read => read.Revision <= Known && Compare(read));
    }

    /// <summary>A read of keys was answered.</summary>
    /// <param name="at">The revision that the entries are of.</param>
    /// <param name="keys">Null: all.</param>
    public void Read(string who, IEnumerable<StoreEntry> entries, long at, IReadOnlyCollection<string>? keys = null)
    {
        string found = string.Join(' ', entries.OrderBy(static entry => entry.Key).Select(static entry =>
            Show($"{entry.Key}", new Row(
                StoreWriteFact.IdIn(entry.Value), entry.Created, entry.Revision, entry.Version))));
        var read = (at, who, (Func<SortedDictionary<string, Row>, string>)Expected, found);
        if (at > Known || !Compare(read)) _reads.Add(read);

        string Expected(SortedDictionary<string, Row> map) => string.Join(' ', map
            .Where(pair => keys is null || keys.Contains(pair.Key)).Select(static pair => Show(pair.Key, pair.Value)));
    }

    /// <param name="floor"><see cref="Answered"/> before the read began.</param>
    public void Fresh(string who, long revision, long floor)
    {
        Answer(revision);
        if (revision < floor) Stale($"{who}: a read is of revision {revision}, and {floor} was told before");
    }

    public void Lost(string who, Exception reason) => Stale($"{who}: {reason.Message}");

    public void LeaseGone(string who, long lease, TimeSpan age, TimeSpan timeToLive) => monitor.Found(
        CheckerNames.StoreLease, $"{who}: lease {lease} of {timeToLive} has ended {age} after its renewal");

    public void Unexpected(string who, Exception reason) => Revision($"{who}: {reason}");

    /// <summary>When nothing moves, and a watch has told all.</summary>
    public void Audit(long revision)
    {
        if (Known != revision || _reads.Count > 0)
            Revision($"the store has come to {revision}, and the changes up to {Known} were told");
        foreach (var (at, changes) in _changes.Where(change => change.Key <= Known))
        {
            foreach (string key in changes.Where(static one => one.Value is null).Select(static one => one.Key))
                Ended(key, at);
        }
    }

    // K15: a key ends with the lease of its newest value, or by a call.
    private void Ended(string key, long revision)
    {
        if (!_maps[(int)revision - 1].TryGetValue(key, out var row) || _writes[(int)row.Write].Lease > 0
            || _deletions.Exists(deletion => deletion.MayHaveMade(revision, key))) return;
        monitor.Found(CheckerNames.StoreLease,
            $"{key} of write {row.Write}, which has no lease, ends at revision {revision}");
    }

    private static SortedDictionary<string, Row> NewMap() => new(StringComparer.Ordinal);

    private static SortedDictionary<string, Row> Apply(
        SortedDictionary<string, Row> before, SortedDictionary<string, long?> changes, long revision)
    {
        var map = new SortedDictionary<string, Row>(before, StringComparer.Ordinal);
        foreach (var (key, write) in changes)
        {
            if (write is not { } id) map.Remove(key);
            else if (map.TryGetValue(key, out var row)) map[key] = new Row(id, row.Created, revision, row.Version + 1);
            else map.Add(key, new Row(id, revision, revision, 1));
        }

        return map;
    }

    private void See(long revision, long id, string[] keys)
    {
        if (id < 0 || id >= _writes.Count)
        {
            Stale($"revision {revision} has a value of no write");
            return;
        }

        StoreWriteFact write = _writes[(int)id];
        if (write.Seen is { } seen) Revision($"write {id} makes revision {revision}, and made {seen}");
        if (write.IsVoid) Revision($"write {id} makes revision {revision}, and was told as void");
        if (write.Told is { } told && told != revision)
            Revision($"write {id} makes revision {revision}, and was told as {told}");
        if (!keys.ToHashSet().SetEquals(write.Keys))
            Revision($"write {id} changes {string.Join(' ', keys)}, and has {string.Join(' ', write.Keys)}");
        write.Seen = revision;
    }

    private bool Compare((long Revision, string Who, Func<SortedDictionary<string, Row>, string> Expected,
        string Found) read)
    {
        string expected = read.Expected(_maps[(int)read.Revision]);
        if (expected != read.Found)
            Stale($"{read.Who}: revision {read.Revision} reads as {read.Found}, and is {expected}");
        return true;
    }

    private static string Show(SortedDictionary<string, long?> changes) =>
        string.Join(' ', changes.Select(static one => $"{one.Key}={one.Value}"));

    private static string Show(string key, Row row) =>
        $"{key}={row.Write}/{row.Created}/{row.Revision}/{row.Version}";

    // K7, K8, K9, K13.
    private void Revision(string what) => monitor.Found(CheckerNames.StoreRevision, what);

    // K1, K2, K5, K6, K12, K14.
    private void Stale(string what) => monitor.Found(CheckerNames.StoreRead, what);

    // K10.
    private void Missed(string what) => monitor.Found(CheckerNames.StoreWatch, $"{what} was passed over");

    private sealed record Row(long Write, long Created, long Revision, long Version);
}
