using Corfu.Protocol;

namespace Corfu.Layout;

/// <summary>
/// The beginning of an area's first group: whose log this is, and which of the two areas is the newer.
/// </summary>
internal readonly record struct AreaStart(ushort Version, long Generation, ClusterId Cluster, NodeId Id)
{
    /// <summary>The first group says which generation it is, so its CRC cannot be bound to that.</summary>
    public const long Binding = -1;

    public void Write(ref WireWriter w)
    {
        w.UInt16(Version);
        w.Int64(Generation);
        w.Guid(Cluster.Value);
        w.Guid(Id.Value);
    }

    public static AreaStart Read(ref WireReader r)
    {
        var start = new AreaStart(r.UInt16(), r.Int64(), new ClusterId(r.Guid()), new NodeId(r.Guid()));
        return start.Version == 1
            ? start
            : throw new MalformedDataException($"Version {start.Version} of the acceptor's log is unknown.");
    }

    public static AreaStart? TryRead(ReadOnlyMemory<byte> area)
    {
        if (!LogGroup.TryRead(area, Binding, 0, out var number, out var body) || number != 0) return null;
        var r = new WireReader(body);
        return Read(ref r);
    }
}
