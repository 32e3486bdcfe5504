namespace Tango.ZooKeeper;

/// <summary>Changes settings of the service; null: as it is.</summary>
/// <param name="Level">Never falls, and is refused above the code of a front end that is up.</param>
public sealed record ConfigureRecord(int? Level, bool? TtlNodes, bool? EnforceQuota) : TreeRecord
{
    private const int Fields = 3;

    public override int Number => Mutators.Configure;

    internal override int? NewLevel => Level;

    internal override bool IsShared => true;

    internal override TreeResult Decide(WorkingTree tree)
    {
        var level = Level ?? tree.Level;
        if (level < tree.Level || tree.FrontEnds.Rows.Any(row => !row.IsDown && row.CodeLevel < level))
            return TreeResult.Of(ZooKeeperError.SystemError);
        tree.Level = TreeLevel.Require(level);
        tree.Settings = new TreeSettings(
            TtlNodes ?? tree.Settings.TtlNodes, EnforceQuota ?? tree.Settings.EnforceQuota);
        return OpResult.Done;
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        if (Level is { } level) writer.Write(level);
        else writer.WriteNil();
        Write(ref writer, TtlNodes);
        Write(ref writer, EnforceQuota);
    }

    internal static ConfigureRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        return new ConfigureRecord(
            reader.TryReadNil() ? null : reader.ReadInt32(), ReadFlag(ref reader), ReadFlag(ref reader));
    }

    private static void Write(ref MessagePackWriter writer, bool? flag)
    {
        if (flag is { } value) writer.Write(value);
        else writer.WriteNil();
    }

    private static bool? ReadFlag(ref MessagePackReader reader) => reader.TryReadNil() ? null : reader.ReadBoolean();
}
