namespace Tango.ZooKeeper;

/// <summary>Requests that take effect together, under one zxid, or not at all. Each sees those before it.</summary>
/// <param name="Parts">No <see cref="SetAclOp"/>.</param>
public sealed record MultiOp(ImmutableArray<NodeOp> Parts) : TreeOp
{
    internal override int Mutator => Mutators.Multi;

    internal override ObjectKey Keys => TreeKeys.All(Parts.SelectMany(static part => part.Writes()));

    internal override bool IsFor(MountTable mounts) => Parts.All(part => part.IsFor(mounts));

    internal override TreeResult Decide(WorkingTree tree)
    {
        var results = ImmutableArray.CreateBuilder<OpResult>(Parts.Length);
        foreach (var part in Parts)
        {
            var result = part.DecideNode(tree);
            // Z14: with the result, the changes are dropped, and so are counters of sequences.
            if (result.Error != ZooKeeperError.Ok) return FailedAt(results.Count, result.Error);
            results.Add(result);
        }

        return new MultiResult(ZooKeeperError.Ok, results.MoveToImmutable());
    }

    internal override void Write(ref MessagePackWriter writer) => WriteOps(ref writer, Parts);

    internal static void WriteOps(ref MessagePackWriter writer, ImmutableArray<NodeOp> ops)
    {
        writer.WriteArrayHeader(ops.Length);
        foreach (var part in ops)
        {
            writer.WriteArrayHeader(2);
            writer.Write(part.PartNumber ?? throw new ArgumentException($"{part.GetType().Name} in a multi"));
            part.Write(ref writer);
        }
    }

    internal static MultiOp Read(ref MessagePackReader reader) => new(ReadOps(ref reader));

    internal static ImmutableArray<NodeOp> ReadOps(ref MessagePackReader reader)
    {
        var parts = ImmutableArray.CreateBuilder<NodeOp>(reader.ReadCount());
        while (parts.Count < parts.Capacity)
        {
            reader.ReadArrayHeader(2);
            var number = reader.ReadInt32();
            parts.Add(number switch
            {
                1 => CreateOp.Read(ref reader),
                2 => DeleteOp.Read(ref reader),
                5 => SetDataOp.Read(ref reader),
                13 => CheckOp.Read(ref reader),
                _ => throw new TangoFormatException($"A multi has a request {number}, which is not known here"),
            });
        }

        return parts.MoveToImmutable();
    }

    internal MultiResult FailedAt(int index, ZooKeeperError error)
    {
        var results = ImmutableArray.CreateBuilder<OpResult>(Parts.Length);
        for (var i = 0; i < Parts.Length; i++)
        {
            results.Add(new OpResult(i < index ? ZooKeeperError.Ok
                : i == index ? error : ZooKeeperError.RuntimeInconsistency));
        }

        return new MultiResult(error, results.MoveToImmutable());
    }
}
