using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Conformance;

/// <summary>Builds encoded entries for tests of units and stores.</summary>
internal static class Entries
{
    public static readonly ClusterId Cluster = new(new Guid("cccccccc-0000-0000-0000-000000000001"));

    public static readonly WriterId Writer = new(new Guid("11111111-2222-3333-4444-555555555555"));

    public static byte[] Data(long position, long epoch = 1, string payload = "payload", long sequence = 0,
        params ulong[] streams) =>
        Data(position, System.Text.Encoding.UTF8.GetBytes(payload), epoch, sequence, streams);

    public static byte[] Data(long position, byte[] payload, long epoch = 1, long sequence = 0,
        params ulong[] streams) =>
        EntryCodec.Encode(new LogEntry(
            new LogPosition(position, new Epoch(epoch)),
            new EntryOrigin(Writer, sequence),
            EntryKind.Data,
            DateTimeOffset.UnixEpoch,
            [.. streams.Select(s => new StreamHeader(new StreamId(s), []))],
            payload));

    public static byte[] Junk(long position, long epoch = 1, params ulong[] streams) =>
        EntryCodec.Encode(new LogEntry(
            new LogPosition(position, new Epoch(epoch)),
            new EntryOrigin(Writer, -1),
            EntryKind.Junk,
            DateTimeOffset.UnixEpoch,
            [.. streams.Select(s => new StreamHeader(new StreamId(s), []))],
            default));

    /// <summary>A projection of one chain with one unit, just enough to install an epoch.</summary>
    public static Projection Projection(long epoch, long start = 0, NodeId? unit = null, ClusterId? cluster = null)
    {
        var id = unit ?? new NodeId(new Guid("aaaaaaaa-0000-0000-0000-000000000001"));
        var address = new NodeAddress(id, new NodeEndpoint("localhost", 1));
        var segment = new Segment(LogPosition.Zero, null, [new Chain([new Replica(id)])]);
        return new Projection(
            cluster ?? Cluster,
            new Epoch(epoch),
            new NodeAddress(new NodeId(new Guid("eeeeeeee-0000-0000-0000-000000000001")),
                new NodeEndpoint("localhost", 2)),
            new LogPosition(start),
            LogPosition.Zero,
            [segment],
            [address],
            [address],
            "test");
    }

    public static ImmutableArray<LogPosition> Positions(params long[] positions) =>
        [.. positions.Select(p => new LogPosition(p))];
}
