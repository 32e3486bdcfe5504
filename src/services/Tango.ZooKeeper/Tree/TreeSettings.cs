namespace Tango.ZooKeeper;

/// <summary>Settings of the service. They stand in the log, so that all replicas decide alike.</summary>
/// <param name="TtlNodes">Whether clients may create nodes with a time to live.</param>
/// <param name="EnforceQuota">Whether writes beyond a quota's hard limits are refused.</param>
public sealed record TreeSettings(bool TtlNodes = false, bool EnforceQuota = false)
{
    private const int Fields = 2;

    internal void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.Write(TtlNodes);
        writer.Write(EnforceQuota);
    }

    internal static TreeSettings Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        return new TreeSettings(reader.ReadBoolean(), reader.ReadBoolean());
    }
}
