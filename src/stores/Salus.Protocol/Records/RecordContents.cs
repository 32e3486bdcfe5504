using System.Buffers;

namespace Salus.Protocol;

/// <summary>Content of an <see cref="RegionRecordKind.Open"/>: all batches above <paramref name="Last"/> are void, and
/// batches of lower runs come no more.</summary>
/// <param name="Run">The run that the region takes batches of from here on.</param>
/// <param name="Last">The region's last batch that stays.</param>
public sealed record Opening(long Run, BatchName Last)
{
    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(64);
        var w = new WireWriter(buffer);
        w.Int64(Run);
        Last.Write(ref w);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    /// <exception cref="MalformedDataException">The bytes are no opening.</exception>
    public static Opening Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        var opening = new Opening(r.Number(), BatchName.Read(ref r));
        r.End();
        return opening;
    }
}

/// <summary>Content of a <see cref="RegionRecordKind.Cut"/>.</summary>
/// <param name="File">The number of the checkpoint file that gets what has changed.</param>
public sealed record CutRecord(long File)
{
    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(8);
        var w = new WireWriter(buffer);
        w.Int64(File);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    /// <exception cref="MalformedDataException">The bytes are no cut.</exception>
    public static CutRecord Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        var cut = new CutRecord(r.Number());
        r.End();
        return cut.File > 0 ? cut : throw new MalformedDataException("A cut names no file.");
    }
}

/// <summary>Content of a <see cref="RegionRecordKind.Compact"/>.</summary>
/// <param name="Inputs">Ascending.</param>
/// <param name="Output">The file that gets their live blocks; above all inputs.</param>
public sealed record CompactRecord(ImmutableArray<long> Inputs, long Output)
{
    public const int MaxInputs = 256;

    public bool Equals(CompactRecord? other) =>
        other is not null && Output == other.Output && Inputs.AsSpan().SequenceEqual(other.Inputs.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Output, Inputs.Length);

    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(12 + (8 * Inputs.Length));
        var w = new WireWriter(buffer);
        w.Array(Inputs, static (ref w, input) => w.Int64(input));
        w.Int64(Output);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    /// <exception cref="MalformedDataException">The bytes are no compaction.</exception>
    public static CompactRecord Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        var record = new CompactRecord(r.Array(8, static (ref r) => r.Number(), MaxInputs), r.Number());
        r.End();
        var before = 0L;
        foreach (var input in record.Inputs)
        {
            if (input <= before) throw new MalformedDataException("The inputs of a compaction are not ascending.");
            before = input;
        }

        return !record.Inputs.IsEmpty && record.Output > before
            ? record
            : throw new MalformedDataException("A compaction has no input, or an output that is not above them.");
    }
}
