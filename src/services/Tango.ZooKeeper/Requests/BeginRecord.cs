namespace Tango.ZooKeeper;

/// <summary>Begins a tree. Several front ends may try at once: the first record counts, the others are
/// refused.</summary>
/// <param name="Seed">Random: clients must not know it, else they choose paths of one hash.</param>
public sealed record BeginRecord(ulong Seed, int Level, TreeSettings Settings) : TreeRecord
{
    private const int Fields = 3;

    public override int Number => Mutators.Begin;

    internal override int? NewLevel => Level;

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (tree.Level != 0 || Level < TreeLevel.First) return TreeResult.Of(ZooKeeperError.SystemError);
        tree.Begin(Seed, TreeLevel.Require(Level), Settings);
        return OpResult.Done;
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.Write(Seed);
        writer.Write(Level);
        Settings.Write(ref writer);
    }

    internal static BeginRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        return new BeginRecord(reader.ReadUInt64(), reader.ReadInt32(), TreeSettings.Read(ref reader));
    }
}
