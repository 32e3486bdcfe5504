using System.Buffers;

namespace Salus.Protocol;

/// <summary>A record of a region's log: the same at all members.</summary>
/// <remarks>Bytes of the head: kind (1), region (20), generation (8), index (8), the link before (16), the content's
/// digest (16). In the log of a machine the certificate and the content stand behind it.</remarks>
/// <param name="Index">Counts the records of the region, from 1. Never used twice with different content (S2).</param>
/// <param name="Previous">The chain up to the record before; empty: there is none.</param>
/// <param name="Digest">The content's; for a <see cref="SubBatch"/> its head's, which has the hashes of the
/// rest.</param>
public readonly record struct RecordHead(RegionRecordKind Kind, RegionKey Region, Epoch Generation, long Index,
    Hash128 Previous, Hash128 Digest)
{
    public const int Size = 1 + 16 + 4 + 8 + 8 + Hash128.Size + Hash128.Size;

    /// <summary>The chain up to this record: equal chains have equal records at all indexes, so the newest certificate
    /// vouches for all of them.</summary>
    public Hash128 Chain
    {
        get
        {
            var facts = new FactWriter(stackalloc byte[64]);
            facts.Hash(Previous);
            facts.Byte((byte)Kind);
            facts.Int64(Generation.Value);
            facts.Int64(Index);
            facts.Hash(Digest);
            return facts.ToHash();
        }
    }

    public Statement Logged => Statement.Logged(Region, Generation, Index, Chain);

    internal void Write(ref WireWriter w)
    {
        w.Byte((byte)Kind);
        w.Region(Region);
        w.Epoch(Generation);
        w.Int64(Index);
        w.Hash(Previous);
        w.Hash(Digest);
    }

    public static RecordHead Read(ref WireReader r)
    {
        var kind = (RegionRecordKind)r.Byte();
        if (kind is RegionRecordKind.None or > RegionRecordKind.Compact)
            throw new MalformedDataException($"A region's log has no records of kind {(byte)kind}.");
        var head = new RecordHead(kind, r.Region(), r.Epoch(), r.Number(), r.Hash(), r.Hash());
        return head.Index > 0 ? head : throw new MalformedDataException("A record has no index.");
    }
}

/// <summary>A record of a region's log with its certificate and its content.</summary>
/// <param name="Certificate">Proves <see cref="RecordHead.Logged"/>.</param>
public sealed record RegionRecord(RecordHead Head, Certificate Certificate, ReadOnlyMemory<byte> Content)
{
    /// <summary>Bytes of a record besides its content.</summary>
    public const int MaxOverhead = RecordHead.Size + 8 + 4 + (VolumeGeometry.MaxCopies * Hash128.Size) + 4;

    /// <exception cref="MalformedDataException">The content is none of its kind.</exception>
    public static Hash128 DigestOf(RegionRecordKind kind, ReadOnlyMemory<byte> content, out int checkedLength)
    {
        checkedLength = content.Length;
        if (kind == RegionRecordKind.Put) SubBatch.Decode(content, out checkedLength);
        return Hash128.Of(content.Span[..checkedLength]);
    }

    /// <summary>Head, certificate, content.</summary>
    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(MaxOverhead + Content.Length);
        var w = new WireWriter(buffer);
        Write(ref w);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>The content is a slice of the bytes.</summary>
    /// <exception cref="MalformedDataException">The bytes are no record.</exception>
    public static RegionRecord Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        var record = Read(ref r);
        r.End();
        return record;
    }

    public void Write(ref WireWriter w)
    {
        Head.Write(ref w);
        Certificate.Write(ref w);
        w.Bytes(Content.Span);
    }

    internal static RegionRecord Read(ref WireReader r) =>
        new(RecordHead.Read(ref r), Certificate.Read(ref r), r.Bytes());
}
