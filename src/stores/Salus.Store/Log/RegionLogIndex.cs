namespace Salus.Store.Log;

/// <summary>A record of a region's log, where it stands.</summary>
/// <param name="Address">The address of its header in the machine's log.</param>
/// <param name="Length">Bytes of the body.</param>
/// <param name="IsIntact">False: the batch's data is damaged, and is to come again from a peer.</param>
internal readonly record struct LogEntry(
    RecordName Name, Hash128 Chain, long Address, int Length, bool IsIntact)
{
    /// <summary>The record is durable once the log is durable up to here.</summary>
    public long Lsn => IRecordLog.Align(Address + RecordFraming.HeaderSize + Length);
}

/// <summary>A certified checkpoint.</summary>
internal sealed record KeptCheckpoint(CheckpointName Name, Certificate Certificate);

/// <summary>All that a store has of one region's log. Pure; guarded by the log's lock.</summary>
internal sealed class RegionLogIndex(RegionKey region)
{
    // By index, then generation; all above the floor. Appends go to the end, but for copies of a recovery.
    private readonly List<LogEntry> _entries = [];
    private readonly List<KeptCheckpoint> _checkpoints = [];

    public RegionKey Region { get; } = region;

    /// <summary>Records of lower generations are refused. Never falls.</summary>
    public Epoch Sealed { get; private set; }

    /// <summary>The seal is durable once the log is durable up to here.</summary>
    public long SealedLsn { get; private set; }

    /// <summary>Records up to here are gone, or go. Never falls.</summary>
    public long Floor { get; private set; }

    /// <summary>The newest proof: of the highest run, and there of the highest batch. A later run may have given up
    /// what an earlier one had proven (S21).</summary>
    public CommitProof? Commit { get; private set; }

    public IReadOnlyList<KeptCheckpoint> Checkpoints => _checkpoints;

    public IReadOnlyList<LogEntry> Entries => _entries;

    /// <summary>The record of the newest generation at the highest index; null: none.</summary>
    public LogEntry? Last => _entries.Count == 0 ? null : _entries[^1];

    /// <summary>The region's state is told by records at or behind this address.</summary>
    public long StateAddress { get; private set; } = long.MaxValue;

    public LogEntry? Find(RecordName name)
    {
        var at = PlaceOf(name);
        return at < _entries.Count && _entries[at].Name == name ? _entries[at] : null;
    }

    /// <summary>The entries from an index on.</summary>
    public IEnumerable<LogEntry> From(long index) => _entries.Skip(PlaceOf(new RecordName(Epoch.None, index)));

    /// <summary>Enters a record; one of the same name is replaced, since a copy has been written of it.</summary>
    public void Put(in LogEntry entry)
    {
        if (entry.Name.Index <= Floor) return;
        var at = PlaceOf(entry.Name);
        if (at == _entries.Count || _entries[at].Name != entry.Name) _entries.Insert(at, entry);
        else if (entry.IsIntact || !_entries[at].IsIntact) _entries[at] = entry;
    }

    /// <summary>The record's data cannot be read any more.</summary>
    public void SetDamaged(RecordName name)
    {
        var at = PlaceOf(name);
        if (at < _entries.Count && _entries[at].Name == name) _entries[at] = _entries[at] with { IsIntact = false };
    }

    /// <summary>The record stands at another place too, where it is durable: the old place goes.</summary>
    public void Move(RecordName name, long from, long to)
    {
        var at = PlaceOf(name);
        if (at < _entries.Count && _entries[at].Name == name && _entries[at].Address == from)
            _entries[at] = _entries[at] with { Address = to };
    }

    public void Seal(Epoch generation, long lsn)
    {
        if (generation > Sealed) (Sealed, SealedLsn) = (generation, lsn);
    }

    public void Mark(CommitProof commit)
    {
        if (Commit is not { Batch: var known } || commit.Batch.Run > known.Run
            || (commit.Batch.Run == known.Run && commit.Batch.Number >= known.Number)) Commit = commit;
    }

    public void Keep(KeptCheckpoint checkpoint)
    {
        _checkpoints.RemoveAll(kept => kept.Name.Number == checkpoint.Name.Number);
        _checkpoints.Add(checkpoint);
    }

    /// <param name="index">Records up to here go.</param>
    public void Raise(long index)
    {
        if (index <= Floor) return;
        Floor = index;
        _entries.RemoveRange(0, PlaceOf(new RecordName(Epoch.None, index + 1)));
    }

    /// <summary>A record that says something about the region stands there; a State says all of it.</summary>
    public void Said(long address, bool isAll)
    {
        if (isAll || StateAddress == long.MaxValue) StateAddress = address;
    }

    public void WriteState(ref WireWriter w)
    {
        w.Epoch(Sealed);
        w.Int64(Floor);
        w.Bool(Commit is not null);
        Commit?.Write(ref w);
        w.Int32(_checkpoints.Count);
        foreach (var checkpoint in _checkpoints)
        {
            checkpoint.Name.Write(ref w);
            checkpoint.Certificate.Write(ref w);
        }
    }

    public void ReadState(ref WireReader r)
    {
        Sealed = r.Epoch();
        Raise(r.Int64());
        Commit = r.Bool() ? CommitProof.Read(ref r) : null;
        _checkpoints.Clear();
        for (var count = r.Count(1); count > 0; count--)
            _checkpoints.Add(new KeptCheckpoint(CheckpointName.Read(ref r), Certificate.Read(ref r)));
    }

    private int PlaceOf(RecordName name)
    {
        var (low, high) = (0, _entries.Count);
        // Most are the next one, or the newest.
        if (high > 0 && Compare(_entries[high - 1].Name, name) < 0) return high;
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (Compare(_entries[middle].Name, name) < 0) low = middle + 1;
            else high = middle;
        }

        return low;
    }

    private static int Compare(RecordName a, RecordName b)
    {
        var byIndex = a.Index.CompareTo(b.Index);
        return byIndex != 0 ? byIndex : a.Generation.CompareTo(b.Generation);
    }
}
