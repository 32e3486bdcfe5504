namespace Salus.Protocol;

/// <summary>The kinds of facts that are signed. Numbers are part of the wire format and never reused.</summary>
public enum StatementKind : byte
{
    None = 0,

    /// <summary>By a driver: this is batch (w, b).</summary>
    Batch = 1,

    /// <summary>By a member: index i of the region's log holds this, and everything below is in place.</summary>
    Logged = 2,

    /// <summary>By a member: the sub-batch of (w, b), with its certificate, is durable here.</summary>
    Prepared = 3,

    /// <summary>By a member of the leader: all batches up to (w, X) are committed.</summary>
    Committed = 4,

    /// <summary>By a member: checkpoint n is durable here.</summary>
    Checkpoint = 5,

    /// <summary>By a member of a new generation: the region begins here again.</summary>
    Opening = 6,

    /// <summary>By a member: the region refuses lower runs, and this is what it has.</summary>
    Report = 7,

    /// <summary>By a member: files or records may go.</summary>
    Release = 8,
}

/// <summary>A fact of one kind about one region in one generation. Each is part of what is signed: a signature counts
/// for nothing else (S1).</summary>
/// <param name="Facts">The hash of the kind's own fields.</param>
public readonly record struct Statement(StatementKind Kind, RegionKey Region, Epoch Generation, Hash128 Facts)
{
    private const int MostFacts = 128;

    // A driver signs for its volume, and knows no generation.
    private const int WholeVolume = -1;

    public static Statement Batch(VolumeId volume, Hash128 digest) =>
        new(StatementKind.Batch, new RegionKey(volume, WholeVolume), default, digest);

    public static Statement Logged(RegionKey region, Epoch generation, long index, Hash128 chain)
    {
        var facts = new FactWriter(stackalloc byte[MostFacts]);
        facts.Int64(index);
        facts.Hash(chain);
        return new Statement(StatementKind.Logged, region, generation, facts.ToHash());
    }

    public static Statement Prepared(RegionKey region, Epoch generation, in BatchName batch) =>
        new(StatementKind.Prepared, region, generation, FactsOf(batch));

    /// <param name="leader">The region that decided it.</param>
    public static Statement Committed(RegionKey leader, Epoch generation, in BatchName batch) =>
        new(StatementKind.Committed, leader, generation, FactsOf(batch));

    public static Statement Checkpoint(RegionKey region, Epoch generation, in CheckpointName checkpoint)
    {
        var facts = new FactWriter(stackalloc byte[MostFacts]);
        facts.Int64(checkpoint.Number);
        facts.Int64(checkpoint.Index);
        facts.Int64(checkpoint.Run);
        facts.Int64(checkpoint.Batch);
        facts.Hash(checkpoint.Root);
        facts.Hash(checkpoint.Digest);
        return new Statement(StatementKind.Checkpoint, region, generation, facts.ToHash());
    }

    /// <param name="index">The index of the opening.</param>
    /// <param name="chain">The chain up to it.</param>
    /// <param name="batch">The region's last batch.</param>
    public static Statement Opening(RegionKey region, Epoch generation, long index, Hash128 chain, in BatchName batch)
    {
        var facts = new FactWriter(stackalloc byte[MostFacts]);
        facts.Int64(index);
        facts.Hash(chain);
        facts.Hash(FactsOf(batch));
        return new Statement(StatementKind.Opening, region, generation, facts.ToHash());
    }

    /// <param name="report">The digest of a <see cref="RegionReport"/>.</param>
    public static Statement Report(RegionKey region, Epoch generation, Hash128 report) =>
        new(StatementKind.Report, region, generation, report);

    /// <param name="checkpoint">The oldest checkpoint that stays; 0: none was made.</param>
    /// <param name="floor">Records up to this index may go.</param>
    public static Statement Release(RegionKey region, Epoch generation, long checkpoint, long floor)
    {
        var facts = new FactWriter(stackalloc byte[MostFacts]);
        facts.Int64(checkpoint);
        facts.Int64(floor);
        return new Statement(StatementKind.Release, region, generation, facts.ToHash());
    }

    // Everything that is signed, and the signer: the hash is seeded with half of its identity and covers the whole.
    internal Hash128 HashFor(Incarnation signer)
    {
        var facts = new FactWriter(stackalloc byte[MostFacts]);
        facts.Guid(signer.Value);
        facts.Byte((byte)Kind);
        facts.Guid(Region.Volume.Value);
        facts.Int32(Region.Region);
        facts.Int64(Generation.Value);
        facts.Hash(Facts);
        Span<byte> identity = stackalloc byte[16];
        signer.Value.TryWriteBytes(identity);
        return facts.ToHash(BitConverter.ToInt64(identity[8..]));
    }

    private static Hash128 FactsOf(in BatchName batch)
    {
        var facts = new FactWriter(stackalloc byte[MostFacts]);
        facts.Int64(batch.Run);
        facts.Int64(batch.Number);
        facts.Hash(batch.Digest);
        return facts.ToHash();
    }
}
