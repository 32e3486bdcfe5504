using System.Buffers.Binary;
using System.Security.Cryptography;
using Craq.Storage;

namespace Craq.Learning;

/// <summary>The contents of a chain's clean objects, as digests, for comparisons of replicas.</summary>
internal sealed class Contents(INodeStore store, TimeProvider time)
{
    // Bounds of an answer: 4 MiB on the wire, and an end long before the caller's time-out.
    private const int MaxObjects = 128 << 10;
    private const long MaxBytes = 64 << 20;
    private static readonly TimeSpan s_most = TimeSpan.FromSeconds(5);

    /// <param name="until">Objects of versions above are left out.</param>
    public async ValueTask<ContentList> ReadAsync(ChainId chain, HashRange range, ObjectVersion until)
    {
        var objects = ImmutableArray.CreateBuilder<ObjectContent>();
        var last = new ObjectHash(range.Last.High, range.Last.Low);
        var (seen, bytes) = (0, 0L);
        long? began = null;
        using var digest = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        await foreach (var (hash, slot) in store.ListAsync(chain, new ObjectHash(range.First.High, range.First.Low)))
        {
            if (hash.CompareTo(last) > 0) break;
            began ??= time.GetTimestamp();
            // Each answer gets on, however slow the disk is.
            if (seen > 0 && (seen == MaxObjects || bytes > MaxBytes || time.GetElapsedTime(began.Value) > s_most))
                return new ContentList(objects.ToImmutable(), new KeyHash(hash.High, hash.Low));
            seen++;
            bytes += slot.Length;
            if (await ReadAsync(chain, hash, slot, until, digest) is { } content) objects.Add(content);
        }

        return new ContentList(objects.ToImmutable(), null);
    }

    // Null: there is no such object at or below the version.
    private async ValueTask<ObjectContent?> ReadAsync(
        ChainId chain, ObjectHash hash, ObjectSlot slot, ObjectVersion until, IncrementalHash digest)
    {
        var own = new KeyHash(hash.High, hash.Low);
        while (slot.Version <= until)
        {
            if (await store.ReadKeyAsync(slot) is { } key && await store.ReadAsync(slot, key) is { } value)
                return new ObjectContent(own, slot.Version, CheckOf(key, slot, value.Span, digest));
            // Cleaned away or overwritten meanwhile; a damaged object still stands there.
            if (await FindAsync(chain, hash) is not { } now) return null;
            if (now.Address == slot.Address) return new ObjectContent(own, slot.Version, ObjectContent.Damaged);
            slot = now;
        }

        return null;
    }

    private async ValueTask<ObjectSlot?> FindAsync(ChainId chain, ObjectHash wanted)
    {
        await foreach (var (hash, slot) in store.ListAsync(chain, wanted)) return hash == wanted ? slot : null;
        return null;
    }

    private static ulong CheckOf(
        ObjectKey key, in ObjectSlot slot, ReadOnlySpan<byte> value, IncrementalHash digest)
    {
        Span<byte> fields = stackalloc byte[16];
        BinaryPrimitives.WriteInt32BigEndian(fields, key.Bytes.Length);
        BinaryPrimitives.WriteUInt32BigEndian(fields[4..], slot.Flags);
        BinaryPrimitives.WriteInt64BigEndian(fields[8..], slot.Expiry);
        digest.AppendData(fields);
        digest.AppendData(key.Bytes.Span);
        digest.AppendData(value);
        Span<byte> sum = stackalloc byte[SHA256.HashSizeInBytes];
        digest.GetHashAndReset(sum);
        return Math.Max(BinaryPrimitives.ReadUInt64BigEndian(sum), ObjectContent.Damaged + 1);
    }
}
