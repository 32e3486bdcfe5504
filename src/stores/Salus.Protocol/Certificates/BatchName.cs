namespace Salus.Protocol;

/// <summary>The name of a batch: a number alone may belong to batches of two runs (S15).</summary>
/// <param name="Run">Counts the tenures of writers; rises.</param>
/// <param name="Number">Counts the volume's batches over all runs, from 1; 0: none yet.</param>
/// <param name="Digest">The header's.</param>
public readonly record struct BatchName(long Run, long Number, Hash128 Digest)
{
    public bool IsNone => Number == 0;

    public override string ToString() => $"({Run}, {Number})";

    public void Write(ref WireWriter w)
    {
        w.Int64(Run);
        w.Int64(Number);
        w.Hash(Digest);
    }

    public static BatchName Read(ref WireReader r) => new(r.Number(), r.Number(), r.Hash());
}

/// <summary>A checkpoint of a region: the same file at all members.</summary>
/// <param name="Number">Counts the region's files, from 1.</param>
/// <param name="Index">The region's log is in it up to here.</param>
/// <param name="Run">The run of <paramref name="Batch"/>.</param>
/// <param name="Batch">The region's last batch in it.</param>
/// <param name="Root">The region's root.</param>
/// <param name="Digest">The file's.</param>
public readonly record struct CheckpointName(
    long Number, long Index, long Run, long Batch, Hash128 Root, Hash128 Digest)
{
    public bool IsNone => Number == 0;

    public void Write(ref WireWriter w)
    {
        w.Int64(Number);
        w.Int64(Index);
        w.Int64(Run);
        w.Int64(Batch);
        w.Hash(Root);
        w.Hash(Digest);
    }

    public static CheckpointName Read(ref WireReader r) =>
        new(r.Number(), r.Number(), r.Number(), r.Number(), r.Hash(), r.Hash());
}
