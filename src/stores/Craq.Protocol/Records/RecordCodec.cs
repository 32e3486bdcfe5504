using System.Buffers;
using System.Runtime.InteropServices;
using static System.Buffers.Binary.BinaryPrimitives;

namespace Craq.Protocol;

/// <summary>The bytes of a record. A fixed part, origins, the heads of its writes, then the values. One check covers
/// all but the values, and each value has its own: damage to a value costs one object, not the chain.</summary>
/// <remarks>
/// Layout, little-endian: magic (4), format (1), kind (1), zero (2), length of all (4), length of the heads (4), check
/// of the heads (4) over all heads but itself, chain (16), version (8), previous (8), transaction (16). Then come
/// origins, locked keys and writes as <see cref="WireWriter"/> has them. A write has its key, flags, expiry, length
/// (-1: deleted) and CRC-32C; its value follows behind the heads, in the order of the writes.
/// </remarks>
public static class RecordCodec
{
    public const uint Magic = 0x31514352; // "RCQ1"
    public const byte Format = 1;

    private const int LengthOffset = 8;
    private const int HeadsOffset = 12;
    private const int CheckOffset = 16;
    private const int ChainOffset = 20;
    private const int VersionOffset = 36;
    private const int PreviousOffset = 44;
    private const int TransactionOffset = 52;

    /// <summary>Bytes before the origins.</summary>
    public const int FixedSize = 68;

    /// <summary>Origins, writes or locked keys of one record.</summary>
    public const int MaxItems = 4096;

    public static byte[] Encode(ChainRecord record) => Encode(record, default);

    /// <param name="checks">Checks of the values, where they are not what the values give; empty: they are.</param>
    internal static byte[] Encode(ChainRecord record, ReadOnlySpan<uint> checks)
    {
        var values = record.Writes.Sum(write => (long)(write.Value?.Length ?? 0));
        var output = new ArrayBufferWriter<byte>(FixedSize + 64 + 48 * record.Writes.Length);
        output.GetSpan(FixedSize)[..FixedSize].Clear();
        output.Advance(FixedSize);
        var w = new WireWriter(output);
        w.Array(record.Origins, static (ref w, origin) =>
        {
            w.Id(origin.Id);
            w.Bytes(origin.Result.Span);
        });
        w.Array(record.Locked, static (ref w, key) => w.Key(key));
        w.Int32(record.Writes.Length);
        for (var i = 0; i < record.Writes.Length; i++)
        {
            var write = record.Writes[i];
            w.Key(write.Key);
            w.UInt32(write.Flags);
            w.Int64(write.Expiry);
            w.Int32(write.Value?.Length ?? -1);
            w.UInt32(!checks.IsEmpty ? checks[i] : write.Value is { } written ? Check(written.Span) : 0);
        }

        w.Flush();
        var heads = output.WrittenCount;
        if (heads + values > MessageLimits.MaxFrame)
            throw new ArgumentException("A record is larger than a frame.", nameof(record));
        var bytes = new byte[heads + values];
        output.WrittenSpan.CopyTo(bytes);
        var at = heads;
        foreach (var write in record.Writes)
        {
            if (write.Value is not { } value) continue;
            value.Span.CopyTo(bytes.AsSpan(at));
            at += value.Length;
        }

        WriteFixed(bytes, record, heads);
        return bytes;
    }

    /// <summary>Decodes a record. Keys, results and values are slices of the bytes.</summary>
    /// <param name="valuesChecked">False leaves the checks of the values to their readers.</param>
    /// <exception cref="MalformedDataException">The bytes are no record, or are damaged.</exception>
    public static ChainRecord Decode(ReadOnlyMemory<byte> bytes, bool valuesChecked = true)
    {
        var heads = HeadsOf(bytes.Span);
        var span = bytes.Span;
        var r = new WireReader(bytes[FixedSize..heads]);
        var origins = r.Array(28, static (ref r) => new RecordOrigin(r.Id(), r.Bytes()), MaxItems);
        var locked = r.Array(4, static (ref r) => r.Key(), MaxItems);
        var at = heads;
        var writes = new ObjectWrite[r.Count(4 + 20, MaxItems)];
        for (var i = 0; i < writes.Length; i++)
        {
            var key = r.Key();
            var (flags, expiry, length, check) = (r.UInt32(), r.Int64(), r.Int32(), r.UInt32());
            ReadOnlyMemory<byte>? value = null;
            if (length >= 0)
            {
                if (length > bytes.Length - at) throw new MalformedDataException("A value exceeds its record.");
                value = bytes.Slice(at, length);
                if (valuesChecked && Check(value.Value.Span) != check)
                    throw new MalformedDataException("A value's check fails.");
                at += length;
            }

            writes[i] = new ObjectWrite(key, flags, expiry, value);
        }

        r.End();
        if (at != bytes.Length) throw new MalformedDataException("Bytes follow the values of a record.");
        var kind = (ChainRecordKind)span[5];
        if (kind is ChainRecordKind.None or > ChainRecordKind.Unlock)
            throw new MalformedDataException("A record's kind is unknown.");
        return new ChainRecord(ChainOf(span), kind, VersionOf(span), PreviousOf(span), origins,
            ImmutableCollectionsMarshal.AsImmutableArray(writes))
        {
            Transaction = new Guid(span.Slice(TransactionOffset, 16)),
            Locked = locked,
        };
    }

    /// <summary>The chain of encoded bytes whose heads have been checked.</summary>
    public static ChainId ChainOf(ReadOnlySpan<byte> bytes) => new(new Guid(bytes.Slice(ChainOffset, 16)));

    /// <inheritdoc cref="ChainOf"/>
    public static ObjectVersion VersionOf(ReadOnlySpan<byte> bytes) => Version(bytes, VersionOffset);

    /// <inheritdoc cref="ChainOf"/>
    public static ObjectVersion PreviousOf(ReadOnlySpan<byte> bytes) => Version(bytes, PreviousOffset);

    /// <summary>The length of the record that the bytes are, or whose heads they are.</summary>
    /// <inheritdoc cref="ChainOf"/>
    public static int LengthOf(ReadOnlySpan<byte> bytes) => ReadInt32LittleEndian(bytes[LengthOffset..]);

    /// <summary>Bytes before the values.</summary>
    /// <inheritdoc cref="ChainOf"/>
    public static int HeadsLengthOf(ReadOnlySpan<byte> bytes) => ReadInt32LittleEndian(bytes[HeadsOffset..]);

    public static uint Check(ReadOnlySpan<byte> bytes) => Crc32C.Compute(bytes);

    private static void WriteFixed(Span<byte> bytes, ChainRecord record, int heads)
    {
        WriteUInt32LittleEndian(bytes, Magic);
        bytes[4] = Format;
        bytes[5] = (byte)record.Kind;
        WriteInt32LittleEndian(bytes[LengthOffset..], bytes.Length);
        WriteInt32LittleEndian(bytes[HeadsOffset..], heads);
        record.Chain.Value.TryWriteBytes(bytes[ChainOffset..]);
        WriteInt64LittleEndian(bytes[VersionOffset..], record.Version.Value);
        WriteInt64LittleEndian(bytes[PreviousOffset..], record.Previous.Value);
        record.Transaction.TryWriteBytes(bytes[TransactionOffset..]);
        WriteUInt32LittleEndian(bytes[CheckOffset..], HeadsCheck(bytes, heads));
    }

    private static uint HeadsCheck(ReadOnlySpan<byte> bytes, int heads) =>
        Crc32C.Compute(Check(bytes[..CheckOffset]), bytes[ChainOffset..heads]);

    private static int HeadsOf(ReadOnlySpan<byte> bytes) => AreHeadsIntact(bytes, out var heads)
        ? heads
        : throw new MalformedDataException("The bytes are no record of a chain, or its check fails.");

    /// <summary>Whether the bytes are a whole record, apart from its values.</summary>
    /// <param name="heads">Bytes before the values.</param>
    public static bool AreHeadsIntact(ReadOnlySpan<byte> bytes, out int heads)
    {
        heads = 0;
        if (!IsRecord(bytes)) return false;
        heads = HeadsLengthOf(bytes);
        return LengthOf(bytes) == bytes.Length && AreHeadsIntact(bytes, heads);
    }

    /// <summary>Whether the bytes are the heads of a record, without the values that belong to them.</summary>
    public static bool AreHeadsAlone(ReadOnlySpan<byte> bytes) => IsRecord(bytes)
        && HeadsLengthOf(bytes) == bytes.Length && LengthOf(bytes) > bytes.Length
        && AreHeadsIntact(bytes, bytes.Length);

    private static bool IsRecord(ReadOnlySpan<byte> bytes) =>
        bytes.Length >= FixedSize && ReadUInt32LittleEndian(bytes) == Magic && bytes[4] == Format;

    private static bool AreHeadsIntact(ReadOnlySpan<byte> bytes, int heads) => heads >= FixedSize
        && heads <= bytes.Length && ReadUInt32LittleEndian(bytes[CheckOffset..]) == HeadsCheck(bytes, heads);

    private static ObjectVersion Version(ReadOnlySpan<byte> bytes, int offset)
    {
        var value = ReadInt64LittleEndian(bytes[offset..]);
        return value >= 0 ? new ObjectVersion(value) : throw new MalformedDataException("A version is negative.");
    }
}
