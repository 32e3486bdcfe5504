using System.Buffers;

namespace Salus.Protocol;

/// <summary>A region's part of a batch: blocks that get data, and blocks that become empty. The changes are in the
/// order of the blocks, and no block is in two of them.</summary>
/// <remarks>Bytes of the head: the header (length, bytes), its signature (16), region (4), block size (4), writes
/// (count, then block and hash of each), zero ranges (count, then first block and count of each). The payload follows
/// without a length: the head says all that it must be, so a torn payload is no torn head.</remarks>
/// <param name="Payload">The blocks' data, in the order of the writes.</param>
public sealed record SubBatch(BatchHeader Header, WeakSignature Signature, int Region, int BlockSize,
    ImmutableArray<BlockWrite> Writes, ImmutableArray<ZeroRange> Zeros, ReadOnlyMemory<byte> Payload)
{
    private const int WriteSize = 4 + Hash128.Size;
    private const int ZeroSize = 4 + 4;

    public RegionKey Key => new(Header.Volume, Region);

    /// <summary>The region's entry in the header.</summary>
    public Participant Participant => Header.Find(Region)!.Value;

    /// <summary>The data of a write.</summary>
    public ReadOnlyMemory<byte> DataOf(int write) => Payload.Slice(write * BlockSize, BlockSize);

    /// <summary>The first write whose data is not what its hash says; -1: none.</summary>
    public int FirstDamaged()
    {
        for (var i = 0; i < Writes.Length; i++)
        {
            if (TreeHash.OfBlock(DataOf(i).Span) != Writes[i].Hash) return i;
        }

        return -1;
    }

    /// <summary>The hash of the head: header, signature and changes with their hashes. A link of the chain
    /// covers it.</summary>
    public Hash128 Digest()
    {
        var buffer = new ArrayBufferWriter<byte>(SizeOfHead());
        WriteHead(buffer);
        return Hash128.Of(buffer.WrittenSpan);
    }

    /// <summary>Without the payload, for those who ask what there is.</summary>
    public byte[] EncodeHead()
    {
        var buffer = new ArrayBufferWriter<byte>(SizeOfHead());
        WriteHead(buffer);
        return buffer.WrittenSpan.ToArray();
    }

    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(SizeOfHead() + Payload.Length);
        WriteHead(buffer);
        buffer.Write(Payload.Span);
        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>The payload is a slice of the bytes.</summary>
    /// <param name="head">Bytes of the head: the rest has checks of its own.</param>
    /// <exception cref="MalformedDataException">The bytes are no sub-batch. Damage of the payload is not looked
    /// for.</exception>
    public static SubBatch Decode(ReadOnlyMemory<byte> bytes, out int head)
    {
        var r = new WireReader(bytes);
        var batch = ReadHead(ref r);
        head = bytes.Length - r.Remaining;
        batch = batch with { Payload = bytes[head..] };
        if (batch.Payload.Length != batch.Writes.Length * batch.BlockSize)
            throw new MalformedDataException("The data of a sub-batch is not that of its writes.");
        return batch;
    }

    /// <summary>A sub-batch whose payload was left out.</summary>
    /// <exception cref="MalformedDataException">The bytes are no head.</exception>
    public static SubBatch DecodeHead(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        var batch = ReadHead(ref r);
        r.End();
        return batch;
    }

    private static SubBatch ReadHead(ref WireReader r)
    {
        var header = BatchHeader.Decode(r.Bytes());
        var signature = new WeakSignature(r.Hash());
        var region = r.RegionNumber();
        var blockSize = r.Int32();
        var batch = new SubBatch(header, signature, region, blockSize,
            r.Array(WriteSize, static (ref r) => new BlockWrite(r.BlockNumber(), r.Hash()), BatchLimits.MaxWrites),
            r.Array(ZeroSize, static (ref r) => new ZeroRange(r.BlockNumber(), r.Int32()), BatchLimits.MaxZeros),
            default);
        batch.Check();
        return batch;
    }

    private int SizeOfHead() => 256 + (Header.Participants.Length * 28) + (Writes.Length * WriteSize)
        + (Zeros.Length * ZeroSize);

    private void WriteHead(IBufferWriter<byte> output)
    {
        var w = new WireWriter(output);
        w.Bytes(Header.Encode());
        w.Hash(Signature.Value);
        w.Int32(Region);
        w.Int32(BlockSize);
        w.Array(Writes, static (ref w, write) =>
        {
            w.Int32(write.Block);
            w.Hash(write.Hash);
        });
        w.Array(Zeros, static (ref w, zero) =>
        {
            w.Int32(zero.First);
            w.Int32(zero.Count);
        });
        w.Flush();
    }

    private void Check()
    {
        if (Header.Find(Region) is null)
            throw new MalformedDataException($"Region {Region} takes no part in the batch that it gets.");
        if (VolumeGeometry.FaultOf(BlockSize, BlockSize, null, 1) is { } fault) throw new MalformedDataException(fault);
        if ((long)Writes.Length * BlockSize > BatchLimits.MaxPayload)
            throw new MalformedDataException("A sub-batch writes more than a batch may.");
        var (end, zero) = (0, 0);
        foreach (var write in Writes)
        {
            while (zero < Zeros.Length && Zeros[zero].First < write.Block) end = Behind(Zeros[zero++], end);
            if (write.Block < end || write.Hash.IsEmpty) throw Misplaced();
            end = write.Block + 1;
        }

        while (zero < Zeros.Length) end = Behind(Zeros[zero++], end);
    }

    private static int Behind(in ZeroRange zero, int end)
    {
        if (zero.First < end || zero.Count <= 0 || zero.Count > VolumeGeometry.MaxRegionBlocks - zero.First)
            throw Misplaced();
        return zero.End;
    }

    private static MalformedDataException Misplaced() =>
        new("The changes of a sub-batch are not in the order of their blocks, or a block is changed twice.");
}
