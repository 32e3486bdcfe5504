namespace Tango.ZooKeeper;

/// <summary>
/// A record that concerns all partitions: of sessions, front ends or settings. One transaction has it for each of them
/// (Z13). Its writer knew some number of mounts; with another one it has no effect in any partition, so that none
/// lacks it.
/// </summary>
/// <param name="Ticket">The writer's, to know the record when it plays it.</param>
public sealed record SharedRecord(int Mounts, long Ticket, TreeRecord Inner) : TreeRecord
{
    private const int Fields = 4;

    public override int Number => Mutators.Shared;

    internal override RequestHeader? Caller => Inner.Caller;

    internal override int? NewLevel => Inner.NewLevel;

    internal override ObjectKey Keys => Inner.Keys;

    internal override bool IsShared => true;

    internal override TreeResult Decide(WorkingTree tree) => tree.Mounts.Count == Mounts
        ? Inner.Decide(tree)
        : TreeResult.Of(ZooKeeperError.OperationTimeout);

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.Write(Mounts);
        writer.Write(Ticket);
        writer.Write(Inner.Number);
        Inner.Write(ref writer);
    }

    internal static SharedRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        var (mounts, ticket, number) = (reader.ReadInt32(), reader.ReadInt64(), reader.ReadInt32());
        var inner = number == Mutators.Shared
            ? throw new TangoFormatException("A record for all partitions holds another one")
            : RecordCodec.Read(number, ref reader);
        return inner.IsShared
            ? new SharedRecord(mounts, ticket, inner)
            : throw new TangoFormatException($"A record {number} is of one partition");
    }
}
