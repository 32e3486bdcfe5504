namespace Corfu.Backup;

/// <summary>Numbers are part of the backup format.</summary>
internal enum CopiedKind : byte
{
    /// <summary>Data or junk.</summary>
    Entry = 1,

    /// <summary>Trimmed on its own; stream walks still need its headers.</summary>
    Tombstone = 2,

    /// <summary>Trimmed, nothing is left.</summary>
    Trimmed = 3,
}

/// <summary>A copied position, or a run of positions that were trimmed without a tombstone.</summary>
/// <param name="Count">Number of positions: 1, except for a run.</param>
/// <param name="Entry">With <see cref="CopiedKind.Tombstone"/> the headers alone.</param>
internal readonly record struct CopiedPage(CopiedKind Kind, LogPosition Position, long Count, LogEntry? Entry)
{
    public LogPosition Until => new(Position.Offset + Count);
}

/// <summary>Every position from <see cref="From"/> to <see cref="To"/> (exclusive), decided, in order.</summary>
internal sealed record CopyBatch(LogPosition From, LogPosition To, ImmutableArray<CopiedPage> Pages)
{
    /// <summary>Bytes that a batch aims at.</summary>
    public const int TargetBytes = 4 << 20;

    /// <summary>Bytes of the payloads.</summary>
    public long Bytes => Pages.Sum(page => (long)(page.Entry?.Payload.Length ?? 0));
}

/// <summary>How far a copy got.</summary>
/// <param name="Copied">Everything below is copied.</param>
/// <param name="Tail">The source's tail as last heard: what is left is the lag.</param>
/// <param name="Positions">Copied in this run.</param>
/// <param name="Bytes">Bytes of their payloads.</param>
public readonly record struct CopyProgress(LogPosition Copied, LogPosition Tail, long Positions, long Bytes)
{
    public long Lag => Math.Max(0, Tail - Copied);

    internal CopyProgress Add(CopyBatch batch) => this with
    {
        Copied = batch.To,
        Positions = Positions + (batch.To - batch.From),
        Bytes = Bytes + batch.Bytes,
    };
}
