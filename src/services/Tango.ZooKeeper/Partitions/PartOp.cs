namespace Tango.ZooKeeper;

/// <summary>
/// Part of a multi across partitions that concerns a single one. The transaction has read all that decides, so that the
/// part succeeds where it commits.
/// </summary>
/// <param name="Ops">The requests of this partition, in their order.</param>
/// <param name="Indexes">Place of each in the multi.</param>
/// <param name="Total">Requests of the whole multi.</param>
public sealed record PartOp(ImmutableArray<NodeOp> Ops, ImmutableArray<int> Indexes, int Total) : TreeOp
{
    private const int Fields = 3;

    internal override int Mutator => Mutators.Part;

    internal override ObjectKey Keys => TreeKeys.All(Ops.SelectMany(static op => op.Writes()));

    public bool Equals(PartOp? other) => other is not null && Total == other.Total
        && Ops.AsSpan().SequenceEqual(other.Ops.AsSpan()) && Indexes.AsSpan().SequenceEqual(other.Indexes.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Total, Ops.Length);

    internal override bool IsFor(MountTable mounts) => Ops.All(op => op.IsFor(mounts));

    internal override TreeResult Decide(WorkingTree tree)
    {
        // Limits of quotas were looked at on the snapshot: what counts towards them has no key.
        tree.IsPart = true;
        var results = ImmutableArray.CreateBuilder<OpResult>(Ops.Length);
        foreach (var op in Ops)
        {
            var result = op.DecideNode(tree);
            // The other partitions have their parts: going on would leave half of a multi.
            if (result.Error != ZooKeeperError.Ok)
                throw new TangoFormatException($"A part of a multi has committed, and fails here with {result.Error}");
            results.Add(result);
        }

        return new PartResult(Indexes, Total, results.MoveToImmutable());
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.Write(Total);
        writer.WriteArrayHeader(Indexes.Length);
        foreach (var index in Indexes) writer.Write(index);
        MultiOp.WriteOps(ref writer, Ops);
    }

    internal static PartOp Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        var total = reader.ReadInt32();
        var indexes = ImmutableArray.CreateBuilder<int>(reader.ReadCount());
        while (indexes.Count < indexes.Capacity) indexes.Add(reader.ReadInt32());
        var ops = MultiOp.ReadOps(ref reader);
        if (ops.Length != indexes.Count || indexes.Any(index => index < 0 || index >= total))
            throw new TangoFormatException($"A part of {ops.Length} requests has {indexes.Count} places");
        return new PartOp(ops, indexes.MoveToImmutable(), total);
    }
}

/// <summary>Result of a part of a multi.</summary>
/// <param name="Indexes">Place of each result in the multi.</param>
/// <param name="Total">Requests of the whole multi.</param>
public sealed record PartResult(ImmutableArray<int> Indexes, int Total, ImmutableArray<OpResult> Parts)
    : TreeResult(ZooKeeperError.Ok)
{
    public bool Equals(PartResult? other) => other is not null && Total == other.Total
        && Indexes.AsSpan().SequenceEqual(other.Indexes.AsSpan()) && Parts.AsSpan().SequenceEqual(other.Parts.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Total, Parts.Length);
}
