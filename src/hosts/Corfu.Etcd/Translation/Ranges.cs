using Google.Protobuf;

namespace Corfu.Etcd.Translation;

/// <summary>Keys and ranges of requests.</summary>
internal static class Ranges
{
    // A range with this end has none.
    private static readonly ByteString s_open = ByteString.CopyFrom(0);

    /// <param name="end">Empty: the key alone. One zero byte: all from the key on.</param>
    public static StoreRange Of(ByteString key, ByteString end)
    {
        var from = KeyOf(key);
        if (end.IsEmpty) return StoreRange.Of(from);
        return end.Equals(s_open) ? new StoreRange(from, null) : new StoreRange(from, KeyOf(end));
    }

    public static StoreKey KeyOf(ByteString key) => new(key.Span);

    /// <summary>Without a copy: the value is not changed.</summary>
    public static ByteString ToBytes(ReadOnlyMemory<byte> value) => UnsafeByteOperations.UnsafeWrap(value);

    public static ByteString ToBytes(StoreKey key) => ByteString.CopyFrom(key.Bytes);

    public static KeyValue ToKeyValue(StoreEntry entry) => new()
    {
        Key = ToBytes(entry.Key),
        CreateRevision = entry.Created,
        ModRevision = entry.Revision,
        Version = entry.Version,
        Value = ToBytes(entry.Value),
        Lease = entry.Lease,
    };
}
