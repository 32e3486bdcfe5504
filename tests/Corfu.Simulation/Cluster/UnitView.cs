namespace Corfu.Simulation.Cluster;

/// <summary>Entries that one unit has admitted to hold, by its own answers. An admitted entry must be there for ever,
/// restarts included.</summary>
internal sealed class UnitView(string name)
{
    public string Name => name;

    public Dictionary<long, StoredPage> Pages { get; } = [];

    /// <summary>Highest epoch in any answer.</summary>
    public long Epoch { get; set; }

    public long EpochAt { get; set; }

    /// <summary>Highest epoch whose projection has reached it.</summary>
    public long Installed { get; set; }

    /// <summary>Highest epoch that it has said to be installed, or has written in, and at which event.</summary>
    public long Kept { get; set; }

    public long KeptAt { get; set; }

    /// <summary>Highest seal that was answered Ok, and at which event.</summary>
    public long SealedBelow { get; set; }

    public long SealedAt { get; set; }

    /// <summary>Address above the highest one, as that seal reported it.</summary>
    public long SealedEnd { get; set; }

    /// <summary>The prefix trim that this unit acknowledged, and when.</summary>
    public long TrimMark { get; private set; }

    public long TrimMarkAt { get; private set; }

    public void RaiseTrimMark(long mark, long at)
    {
        if (mark <= TrimMark) return;
        TrimMark = mark;
        TrimMarkAt = at;
    }
}

/// <param name="Epoch">In which the entry was written, or 0 where that was not seen.</param>
/// <param name="Digest">Hash of the whole entry, or 0 where only its origin was seen.</param>
/// <param name="At">Event number of the first admission.</param>
internal sealed record StoredPage(bool Junk, Guid Writer, long Sequence, long Epoch, ulong Digest, long At)
{
    /// <summary>When it was first said to be trimmed; null before.</summary>
    public long? TrimmedAt { get; set; }

    public bool Trimmed => TrimmedAt is not null;

    public bool SameAs(StoredPage other)
        => Junk == other.Junk && Writer == other.Writer && Sequence == other.Sequence
            && (Digest == 0 || other.Digest == 0 || Digest == other.Digest);

    public override string ToString()
        => $"{(Junk ? "junk" : "data")} {Writer.ToString("N")[..8]}#{Sequence} digest {Digest:x}";
}
