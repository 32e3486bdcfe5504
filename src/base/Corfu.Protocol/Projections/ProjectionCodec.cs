using System.Buffers;

namespace Corfu.Protocol;

/// <summary>The binary form of a projection: one canonical encoding, so that equal bytes mean equal
/// projections.</summary>
public static class ProjectionCodec
{
    public const ushort Version = 2;

    // Without the mirror and the time.
    private const ushort OldestVersion = 1;

    private const long MaxMilliseconds = 253402300799999;

    public const int MaxUnits = 4096;
    public const int MaxSegments = 65536;

    public static byte[] Encode(Projection projection)
    {
        var buffer = new ArrayBufferWriter<byte>(512);
        var w = new WireWriter(buffer);
        Write(ref w, projection);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    public static Projection Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        var projection = Read(ref r);
        r.End();
        return projection;
    }

    internal static void Write(ref WireWriter w, Projection p)
    {
        w.UInt16(Version);
        w.Guid(p.Cluster.Value);
        w.Guid(p.MirrorOf.Value);
        w.Int64(p.ProposedAt?.ToUnixTimeMilliseconds() ?? 0);
        w.Epoch(p.Epoch);
        w.Address(p.Sequencer);
        w.Position(p.Start);
        w.Position(p.TrimMark);
        w.Reason(p.Reason);
        w.Array(p.Units, static (ref w, unit) => w.Address(unit));
        w.Array(p.Acceptors, static (ref w, acceptor) => w.Address(acceptor));
        w.Int32(p.Segments.Length);
        var index = new Dictionary<NodeId, int>();
        for (var i = 0; i < p.Units.Length; i++) index[p.Units[i].Id] = i;
        foreach (var segment in p.Segments)
        {
            // Segments touch, so each is encoded by its From; replicas are indexes into the unit list.
            w.Position(segment.From);
            w.UInt16((ushort)segment.Chains.Length);
            foreach (var chain in segment.Chains)
            {
                w.Byte((byte)chain.Replicas.Length);
                foreach (var replica in chain.Replicas)
                    w.UInt16((ushort)((index[replica.Unit] << 1) | (replica.Joining ? 1 : 0)));
            }
        }
    }

    /// <summary>Also refuses what is larger than <see cref="MessageLimits.MaxProjection"/>.</summary>
    internal static Projection Read(ref WireReader r)
    {
        var rest = r.Remaining - MessageLimits.MaxProjection;
        var version = r.UInt16();
        if (version is < OldestVersion or > Version)
            throw new MalformedDataException($"Projection format {version} is unknown.");
        var cluster = new ClusterId(r.Guid());
        var mirrorOf = version > OldestVersion ? new ClusterId(r.Guid()) : ClusterId.None;
        var proposedAt = version > OldestVersion ? Time(ref r) : null;
        var epoch = r.Epoch();
        var sequencer = r.Address();
        var start = r.Position(epoch);
        var mark = r.Position();
        var reason = r.Reason();
        var units = Addresses(ref r);
        var acceptors = Addresses(ref r);
        var parts = r.Array(10, (ref r) => (From: r.Position(), Chains: ReadChains(ref r, units, rest)), MaxSegments);
        var segments = parts.Select((part, i) =>
            new Segment(part.From, i + 1 < parts.Length ? parts[i + 1].From : null, part.Chains));
        return new Projection(cluster, epoch, sequencer, start, mark, [.. segments], units, acceptors, reason, mirrorOf,
            proposedAt);
    }

    /// <summary>A projection inside a message: its epoch is the frame's, or the register's.</summary>
    internal static Projection Read(ref WireReader r, Epoch epoch)
    {
        var projection = Read(ref r);
        return projection.Epoch == epoch
            ? projection
            : throw new MalformedDataException("A projection has another epoch than its message.");
    }

    private static DateTimeOffset? Time(ref WireReader r) => r.Int64() switch
    {
        0 => null,
        < 0 or > MaxMilliseconds => throw new MalformedDataException("A projection's time is out of range."),
        var milliseconds => DateTimeOffset.FromUnixTimeMilliseconds(milliseconds),
    };

    /// <param name="rest">Bytes that follow the largest projection.</param>
    private static ImmutableArray<Chain> ReadChains(ref WireReader r, ImmutableArray<NodeAddress> units, int rest)
    {
        var count = r.UInt16();
        if (r.Remaining < rest) throw new MalformedDataException("A projection is too large.");

        // A length and one replica: nothing is built for chains that cannot be there.
        if (count * 3 > r.Remaining) throw new MalformedDataException("More chains are counted than bytes follow.");
        var chains = ImmutableArray.CreateBuilder<Chain>(count);
        for (var i = 0; i < count; i++)
        {
            var length = r.Byte();
            if (length == 0) throw new MalformedDataException("A chain has no replica.");
            var replicas = ImmutableArray.CreateBuilder<Replica>(length);
            for (var j = 0; j < length; j++)
            {
                var field = r.UInt16();
                if (field >> 1 >= units.Length)
                    throw new MalformedDataException("A replica names a unit that is not listed.");
                replicas.Add(new Replica(units[field >> 1].Id, (field & 1) != 0));
            }

            chains.Add(new Chain(replicas.DrainToImmutable()));
        }

        return chains.DrainToImmutable();
    }

    private static ImmutableArray<NodeAddress> Addresses(ref WireReader r) =>
        r.Array(22, static (ref r) => r.Address(), MaxUnits);
}
