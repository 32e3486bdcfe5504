using System.Buffers;

namespace Craq.Storage;

/// <summary>A chain in a checkpoint.</summary>
/// <param name="State">As of the checkpoint's beginning; null: the node does not hold it.</param>
internal sealed record SavedChain(ChainId Chain, HeldChain Held, ObjectVersion Mark, ReadOnlyMemory<byte>? State,
    IReadOnlyList<StorePlace> Needed);

/// <summary>A start reads this besides the end of the log (R3): the log's state when the checkpoint was begun, the
/// chains, and the checkpoint of the index that belongs to it. A shortcut: used only if it is whole and the log agrees
/// with it. The newest two are kept.</summary>
internal sealed record NodeCheckpoint(MapHeader Header, int LastHolding, IReadOnlyList<SavedChain> Chains,
    IReadOnlyList<NodeSegment> Segments)
{
    private const uint Magic = 0x31435143; // "CQC1"
    private const int Kept = 2;
    private const int SmallestChain = 16 + 4 + 6 * 8 + 1 + 4;
    private const int PlaceSize = 8 + 4 + 8;
    private const int SegmentSize = 4 + 4 * 8;

    /// <summary>The whole ones, newest first.</summary>
    public static List<NodeCheckpoint> Load(IAddressMaps<ObjectHash, ObjectEntry> maps, uint logId)
    {
        var found = new List<NodeCheckpoint>();
        foreach (var number in maps.List())
        {
            try
            {
                if (Parse(maps.Read(number)) is { } checkpoint && checkpoint.Header.LogId == logId)
                    found.Add(checkpoint);
            }
            catch (Exception error) when (error is MalformedDataException or IOException or ArgumentException)
            {
                // Not whole: the other one, or the whole log.
            }
        }

        found.Sort((a, b) => b.Header.Number.CompareTo(a.Header.Number));
        return found;
    }

    /// <summary>Makes the checkpoint durable, then deletes all but the newest two, with their indexes.</summary>
    public async ValueTask PublishAsync(IAddressMaps<ObjectHash, ObjectEntry> maps)
    {
        await maps.PublishAsync(Header.Number, ToBytes());
        var kept = Load(maps, Header.LogId).Take(Kept).ToList();
        maps.Delete([.. maps.List().Where(n => kept.TrueForAll(k => k.Header.Number != n))]);
        maps.Purge([.. kept.Select(k => k.Header.Map)]);
    }

    private byte[] ToBytes()
    {
        var buffer = new ArrayBufferWriter<byte>(4096);
        var w = new WireWriter(buffer);
        w.Int32(LastHolding);
        w.Int32(Chains.Count);
        foreach (var chain in Chains) Write(ref w, chain);
        w.Int32(Segments.Count);
        foreach (var segment in Segments)
        {
            w.Int32(segment.Index);
            w.Int64(segment.First);
            w.Int64(segment.Before);
            w.Int64(segment.Last);
            w.Int64(segment.IndexAddress);
        }

        w.Flush();
        return Header.ToDocument(Magic, buffer.WrittenSpan);
    }

    private static void Write(ref WireWriter w, SavedChain chain)
    {
        w.Guid(chain.Chain.Value);
        w.Int32(chain.Held.Holding);
        w.Int64(chain.Held.StateAddress);
        w.Int64(chain.Held.StateMark.Value);
        w.Int64(chain.Held.Cleared.Value);
        w.Int64(chain.Held.LiveBytes);
        w.Int64(chain.Held.Objects);
        w.Int64(chain.Mark.Value);
        w.Bool(chain.State is not null);
        if (chain.State is { } state) w.Bytes(state.Span);
        w.Int32(chain.Needed.Count);
        foreach (var place in chain.Needed)
        {
            w.Int64(place.Address);
            w.Int32(place.Length);
            w.Int64(place.Lsn);
        }
    }

    private static NodeCheckpoint? Parse(byte[] bytes)
    {
        if (MapHeader.Read(bytes, Magic, out var contents) is not { } header) return null;
        var r = new WireReader(contents);
        var lastHolding = r.Int32();
        var chains = new SavedChain[r.Count(SmallestChain)];
        for (var i = 0; i < chains.Length; i++) chains[i] = ReadChain(ref r);
        var segments = new NodeSegment[r.Count(SegmentSize)];
        for (var i = 0; i < segments.Length; i++)
        {
            var (index, first, before, last, address) = (r.Int32(), r.Int64(), r.Int64(), r.Int64(), r.Int64());
            segments[i] = new NodeSegment(index, first, before, address) { Last = last };
        }

        r.End();
        if (segments.Length == 0) throw new MalformedDataException("A checkpoint names no segment.");
        return new NodeCheckpoint(header, lastHolding, chains, segments);
    }

    private static SavedChain ReadChain(ref WireReader r)
    {
        var chain = new ChainId(r.Guid());
        var held = new HeldChain(r.Int32())
        {
            StateAddress = r.Int64(),
            StateMark = new ObjectVersion(r.Int64()),
            Cleared = new ObjectVersion(r.Int64()),
            LiveBytes = r.Int64(),
            Objects = r.Int64(),
        };
        var mark = new ObjectVersion(r.Int64());
        ReadOnlyMemory<byte>? state = r.Bool() ? r.Bytes() : null;
        var needed = new StorePlace[r.Count(PlaceSize)];
        for (var i = 0; i < needed.Length; i++) needed[i] = new StorePlace(r.Int64(), r.Int32(), r.Int64());
        return new SavedChain(chain, held, mark, state, needed);
    }
}
