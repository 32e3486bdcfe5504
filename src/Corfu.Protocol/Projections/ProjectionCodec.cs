using System.Buffers;
using System.Collections.Immutable;

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
        var writer = new WireWriter(buffer);
        Write(ref writer, projection);
        writer.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    public static Projection Decode(ReadOnlyMemory<byte> bytes)
    {
        var reader = new WireReader(bytes);
        var projection = Read(ref reader);
        reader.End();
        return projection;
    }

    internal static void Write(ref WireWriter w, Projection p)
    {
        w.UInt16(Version);
        w.Guid(p.Cluster.Value);
        w.Guid(p.MirrorOf.Value);
        w.Int64(p.ProposedAt?.ToUnixTimeMilliseconds() ?? 0);
        w.Epoch(p.Epoch);
        Address(ref w, p.Sequencer);
        w.Position(p.Start);
        w.Position(p.TrimMark);
        w.Text(p.Reason);
        Addresses(ref w, p.Units);
        Addresses(ref w, p.Acceptors);
        w.Int32(p.Segments.Length);
        var index = new Dictionary<NodeId, int>();
        for (var i = 0; i < p.Units.Length; i++) index[p.Units[i].Id] = i;
        foreach (var segment in p.Segments)
        {
            // Segments touch, so a From each says it all; replicas are indexes into the unit list.
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

    internal static Projection Read(ref WireReader r)
    {
        var version = r.UInt16();
        if (version is < OldestVersion or > Version)
            throw new MalformedDataException($"Projection format {version} is unknown.");
        var cluster = new ClusterId(r.Guid());
        var mirrorOf = version > OldestVersion ? new ClusterId(r.Guid()) : ClusterId.None;
        var proposedAt = version > OldestVersion ? Time(ref r) : null;
        var epoch = r.Epoch();
        var sequencer = Address(ref r);
        var start = r.Position(epoch);
        var mark = r.Position();
        var reason = r.Text();
        var units = Addresses(ref r);
        var acceptors = Addresses(ref r);
        var count = r.Count(10, MaxSegments);
        var from = new LogPosition[count];
        var chains = new ImmutableArray<Chain>[count];
        for (var i = 0; i < count; i++)
        {
            from[i] = r.Position();
            chains[i] = ReadChains(ref r, units);
        }

        var segments = ImmutableArray.CreateBuilder<Segment>(count);
        for (var i = 0; i < count; i++)
            segments.Add(new Segment(from[i], i + 1 < count ? from[i + 1] : null, chains[i]));
        return new Projection(cluster, epoch, sequencer, start, mark, segments.DrainToImmutable(), units, acceptors,
            reason, mirrorOf, proposedAt);
    }

    private static DateTimeOffset? Time(ref WireReader r) => r.Int64() switch
    {
        0 => null,
        < 0 or > MaxMilliseconds => throw new MalformedDataException("A projection's time is out of range."),
        var milliseconds => DateTimeOffset.FromUnixTimeMilliseconds(milliseconds),
    };

    private static ImmutableArray<Chain> ReadChains(ref WireReader r, ImmutableArray<NodeAddress> units)
    {
        var count = r.UInt16();
        var chains = ImmutableArray.CreateBuilder<Chain>();
        for (var i = 0; i < count; i++)
        {
            var length = r.Byte();
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

    internal static void Address(ref WireWriter w, NodeAddress address)
    {
        w.Guid(address.Id.Value);
        w.Text(address.Endpoint.Host);
        w.UInt16((ushort)address.Endpoint.Port);
    }

    internal static NodeAddress Address(ref WireReader r) =>
        new(new NodeId(r.Guid()), new NodeEndpoint(r.Text(), r.UInt16()));

    private static void Addresses(ref WireWriter w, ImmutableArray<NodeAddress> addresses)
    {
        w.Int32(addresses.Length);
        foreach (var address in addresses) Address(ref w, address);
    }

    private static ImmutableArray<NodeAddress> Addresses(ref WireReader r)
    {
        var count = r.Count(22, MaxUnits);
        var result = ImmutableArray.CreateBuilder<NodeAddress>(count);
        for (var i = 0; i < count; i++) result.Add(Address(ref r));
        return result.DrainToImmutable();
    }
}
