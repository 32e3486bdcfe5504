using System.Collections.Immutable;
using Tango;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>
/// All journals of a service: which there are, their properties, and from where on the log is needed for them. It
/// changes when a journal is created, has a new snapshot, gets other properties or is deleted; what grains write goes
/// to the journals' streams, which no other silo plays.
/// </summary>
/// <remarks>
/// A single claim on the log serves all journals: a claim for each would burden the directory in every runtime of the
/// log, and its limit is 65,536 claims. The claim is safe although starts come as arguments. A journal's start never
/// falls, and a new journal's start is the position of its own record. A later state therefore has no start below the
/// lowest of an earlier one, except starts above the earlier state's end.
/// </remarks>
[TangoObject("corfu.orleans.journals")]
internal sealed partial class JournalCatalog : TangoObject, ITangoIndex
{
    private ImmutableSortedDictionary<string, JournalEntry> _journals =
        ImmutableSortedDictionary.Create<string, JournalEntry>(StringComparer.Ordinal);

    LogPlace? ITangoIndex.LowestPlace
    {
        get
        {
            var lowest = long.MaxValue;
            foreach (var journal in _journals.Values) lowest = Math.Min(lowest, journal.Start);
            return lowest == long.MaxValue ? null : new LogPlace(new LogPosition(lowest), 0, 0);
        }
    }

    /// <summary>Creates the journal, unless there is one: then it stays as it is.</summary>
    [Mutator(1)]
    public partial ValueTask<JournalCreation> CreateAsync([VersionKey] string journal,
        ImmutableArray<JournalProperty> properties, string? format, CancellationToken cancellationToken = default);

    /// <summary>Nothing of the journal below a start is needed any more. Does nothing if it was deleted since, or if a
    /// newer snapshot is known.</summary>
    [Mutator(2)]
    public partial ValueTask MoveAsync([VersionKey] string journal, long created, long start, long root, string? format,
        CancellationToken cancellationToken = default);

    /// <summary>Sets and removes properties of the journal.</summary>
    /// <param name="expected">The etag that they must have; null: any.</param>
    /// <returns>The journal afterwards; null: there is none, or it has another etag.</returns>
    [Mutator(3)]
    public partial ValueTask<JournalEntry?> ChangeAsync([VersionKey] string journal,
        ImmutableArray<JournalProperty> set, ImmutableArray<string> remove, string? expected,
        CancellationToken cancellationToken = default);

    /// <summary>Does nothing if the journal is another one by now.</summary>
    [Mutator(4)]
    public partial ValueTask RemoveAsync([VersionKey] string journal, long created,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<JournalEntry?> FindAsync([VersionKey] string journal,
        CancellationToken cancellationToken = default);

    /// <summary>The journals whose ids begin so and lie between the bounds, which belong to them, in order.</summary>
    [Accessor]
    public partial ValueTask<ImmutableArray<ListedJournal>> ListAsync(string prefix, string? min, string? max,
        CancellationToken cancellationToken = default);

    private JournalCreation ApplyCreate(
        string journal, ImmutableArray<JournalProperty> properties, string? format, LogPlace place)
    {
        if (_journals.TryGetValue(journal, out var known)) return new JournalCreation(known, false);
        var at = place.Position.Offset;
        var entry = new JournalEntry(at, at, at, place.ToString(), format, properties);
        _journals = _journals.Add(journal, entry);
        return new JournalCreation(entry, true);
    }

    private void ApplyMove(string journal, long created, long start, long root, string? format)
    {
        if (!_journals.TryGetValue(journal, out var known) || known.Created != created) return;
        if (start < known.Start || root < known.Root) return;
        _journals = _journals.SetItem(journal, known with { Start = start, Root = root, Format = format });
    }

    private JournalEntry? ApplyChange(string journal, ImmutableArray<JournalProperty> set,
        ImmutableArray<string> remove, string? expected, LogPlace place)
    {
        if (!_journals.TryGetValue(journal, out var known) || (expected is not null && expected != known.Tag))
            return null;
        var changed = JournalProperties.Change(known.Properties, set, remove);
        if (changed.SequenceEqual(known.Properties)) return known;
        known = known with { Properties = changed, Tag = place.ToString() };
        _journals = _journals.SetItem(journal, known);
        return known;
    }

    private void ApplyRemove(string journal, long created)
    {
        if (_journals.TryGetValue(journal, out var known) && known.Created == created)
            _journals = _journals.Remove(journal);
    }

    private JournalEntry? ReadFind(string journal) => _journals.GetValueOrDefault(journal);

    private ImmutableArray<ListedJournal> ReadList(string prefix, string? min, string? max) =>
    [
        .. _journals.Where(journal => journal.Key.StartsWith(prefix, StringComparison.Ordinal)
                && (min is null || string.CompareOrdinal(journal.Key, min) >= 0)
                && (max is null || string.CompareOrdinal(journal.Key, max) <= 0))
            .Select(static journal => new ListedJournal(journal.Key, journal.Value)),
    ];
}
