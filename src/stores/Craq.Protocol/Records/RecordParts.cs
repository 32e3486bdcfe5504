using System.Buffers;
using System.Runtime.InteropServices;

namespace Craq.Protocol;

/// <summary>A write within the bytes of a record, without decoding the rest.</summary>
/// <param name="Key">A slice of the record, as is <paramref name="Value"/>.</param>
/// <param name="Value">Null: the object is deleted.</param>
/// <param name="Check">The check of the value as it was written.</param>
public readonly record struct RecordPart(ReadOnlyMemory<byte> Key, uint Flags, long Expiry,
    ReadOnlyMemory<byte>? Value, uint Check)
{
    public bool IsIntact => Value is not { } value || RecordCodec.Check(value.Span) == Check;
}

/// <summary>Reads and copies single writes of a record.</summary>
public static class RecordParts
{
    /// <summary>Finds a write. The value is not checked.</summary>
    /// <returns>False: the bytes are no whole record, or it has no such write.</returns>
    public static bool TryFind(ReadOnlyMemory<byte> record, int write, out RecordPart part)
    {
        part = default;
        if (write < 0 || !RecordCodec.AreHeadsIntact(record.Span, out var heads)) return false;
        try
        {
            var r = new WireReader(record[RecordCodec.FixedSize..heads]);
            var count = Skip(ref r);
            if (write >= count) return false;
            var at = heads;
            for (var i = 0; ; i++)
            {
                part = Next(ref r, record, ref at);
                if (i == write) return true;
            }
        }
        catch (MalformedDataException)
        {
            return false;
        }
    }

    /// <summary>A record of some of the writes, in their order, without origins. The checks of the values are the
    /// originals': what is damaged stays so.</summary>
    /// <exception cref="MalformedDataException">The bytes are no record.</exception>
    public static byte[] Extract(ReadOnlyMemory<byte> record, ReadOnlySpan<int> writes)
    {
        var decoded = RecordCodec.Decode(record, valuesChecked: false);
        var kept = new ObjectWrite[writes.Length];
        var checks = new uint[writes.Length];
        for (var i = 0; i < writes.Length; i++)
        {
            kept[i] = decoded.Writes[writes[i]];
            TryFind(record, writes[i], out var part);
            checks[i] = part.Check;
        }

        return RecordCodec.Encode(decoded with
        {
            Origins = [],
            Writes = ImmutableCollectionsMarshal.AsImmutableArray(kept),
        }, checks);
    }

    // Returns the number of writes.
    private static int Skip(ref WireReader r)
    {
        for (var origins = r.Count(28, RecordCodec.MaxItems); origins > 0; origins--)
        {
            r.Guid();
            r.Int64();
            r.Bytes();
        }

        for (var locked = r.Count(4, RecordCodec.MaxItems); locked > 0; locked--) r.Bytes();
        return r.Count(24, RecordCodec.MaxItems);
    }

    private static RecordPart Next(ref WireReader r, ReadOnlyMemory<byte> record, ref int at)
    {
        var key = r.Bytes();
        var (flags, expiry, length, check) = (r.UInt32(), r.Int64(), r.Int32(), r.UInt32());
        if (length < 0) return new RecordPart(key, flags, expiry, null, check);
        if (length > record.Length - at) throw new MalformedDataException("A value exceeds its record.");
        var value = record.Slice(at, length);
        at += length;
        return new RecordPart(key, flags, expiry, value, check);
    }
}
