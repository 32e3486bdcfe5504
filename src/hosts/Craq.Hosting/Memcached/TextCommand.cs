namespace Craq.Hosting.Memcached;

/// <summary>A command of memcached's text protocol, without its data block.</summary>
/// <param name="Keys">A single one, but for the retrieval commands.</param>
/// <param name="Flags">Flags of storage commands.</param>
/// <param name="Exptime">Seconds, as memcached reads them; of flush_all its delay.</param>
/// <param name="Length">Bytes of the data block that follows, its end left out; -1: none follows.</param>
/// <param name="Number">The version of cas, the delta of incr and decr.</param>
/// <param name="Error">The answer to a command that is not understood, else null. A data block of a known length is
/// passed over.</param>
internal sealed record TextCommand(MemcachedVerb Verb, ImmutableArray<ObjectKey> Keys, uint Flags = 0, long Exptime = 0,
    int Length = -1, ulong Number = 0, bool NoReply = false, string? Error = null)
{
    /// <summary>The data block, once it is read.</summary>
    public ReadOnlyMemory<byte> Value { get; init; }

    public ObjectKey Key => Keys[0];

    public static TextCommand Faulty(string error, int length = -1, bool noReply = false) =>
        new(MemcachedVerb.None, [], Length: length, NoReply: noReply, Error: error);
}
