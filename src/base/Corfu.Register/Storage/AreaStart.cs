namespace Corfu.Register;

/// <summary>The beginning of an area's first group. The area of the higher generation is the log.</summary>
internal readonly record struct AreaStart(long Generation, ClusterId Cluster, NodeId Id)
{
    private const ushort Version = 1;

    /// <summary>The first group's CRC is bound to this, because only the group itself tells its generation.</summary>
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
        if (r.UInt16() is not Version and var version)
            throw new MalformedDataException($"Version {version} of the acceptor's log is unknown.");
        return new AreaStart(r.Int64(), new ClusterId(r.Guid()), new NodeId(r.Guid()));
    }

    public static AreaStart? TryRead(ReadOnlyMemory<byte> area)
    {
        if (!LogGroup.TryRead(area, Binding, 0, out var number, out var body) || number != 0) return null;
        var r = new WireReader(body);
        return Read(ref r);
    }
}
