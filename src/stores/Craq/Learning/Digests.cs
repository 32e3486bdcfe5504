using Craq.Storage;

namespace Craq.Learning;

/// <summary>The clean objects of a chain below a prefix of their hashes, as both sides of a reconciliation see
/// them.</summary>
internal static class Digests
{
    /// <summary>Objects that are listed in place of digests.</summary>
    public const int Few = 64;

    /// <param name="until">Objects of versions above are left out.</param>
    /// <param name="all">All objects are listed, however many there are.</param>
    public static async ValueTask<HashBucket> ReadAsync(
        INodeStore store, ChainId chain, HashPrefix prefix, ObjectVersion until, bool all = false)
    {
        var sums = new ulong[HashBucket.Fan];
        var keys = ImmutableArray.CreateBuilder<KeyVersion>();
        var most = all || prefix.Length == HashPrefix.MaxLength ? int.MaxValue : Few;
        var count = 0;
        await foreach (var (hash, slot) in store.ListAsync(chain, new ObjectHash(prefix.Bits, 0)))
        {
            if (hash.High > prefix.Last) break;
            if (slot.Version > until) continue;
            sums[prefix.NextOf(hash.High)] ^= Of(hash, slot.Version);
            if (count++ < most) keys.Add(new KeyVersion(new KeyHash(hash.High, hash.Low), slot.Version));
        }

        return count <= most ? new HashBucket(all ? [.. sums] : [], keys.ToImmutable()) : new HashBucket([.. sums], []);
    }

    /// <summary>The digests of a bucket whose objects are listed.</summary>
    public static ImmutableArray<ulong> Sum(HashPrefix prefix, ImmutableArray<KeyVersion> keys)
    {
        var sums = new ulong[HashBucket.Fan];
        foreach (var (hash, version) in keys)
            sums[prefix.NextOf(hash.High)] ^= Of(new ObjectHash(hash.High, hash.Low), version);
        return [.. sums];
    }

    // The sum of a bucket is the exclusive or of these: it does not depend on the order, and an object that differs
    // in its version alone changes half of the bits.
    private static ulong Of(ObjectHash hash, ObjectVersion version)
    {
        var x = hash.High ^ (hash.Low * 0x9e3779b97f4a7c15) ^ ((ulong)version.Value * 0xd6e8feb86659fd93);
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }
}
