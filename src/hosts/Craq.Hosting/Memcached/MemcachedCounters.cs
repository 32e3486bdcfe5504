using System.Globalization;

namespace Craq.Hosting.Memcached;

/// <summary>Figures of one listener, for <c>stats</c>. Names are memcached's where it has them.</summary>
internal sealed class MemcachedCounters(string listener, TimeProvider time)
{
    private readonly long _began = time.GetTimestamp();
    private long _connections;
    private long _open;
    private long _hits;
    private long _misses;
    private long _written;
    private long _mismatches;
    private long _unknown;
    private long _failed;

    /// <summary>Major, minor and patch alone: libmemcached reads a server's version into 24 and 32 bytes, without a
    /// check.</summary>
    public static string Version { get; } = CorfuNode.Build.Split('-', '+')[0];

    public void Opened()
    {
        Interlocked.Increment(ref _connections);
        Interlocked.Increment(ref _open);
    }

    public void Closed() => Interlocked.Decrement(ref _open);

    public void Got(bool isFound) => Interlocked.Increment(ref isFound ? ref _hits : ref _misses);

    public void Failed() => Interlocked.Increment(ref _failed);

    public void Wrote(WriteOutcome outcome)
    {
        ref var count = ref _unknown;
        if (outcome == WriteOutcome.Written) count = ref _written;
        else if (outcome == WriteOutcome.Mismatch) count = ref _mismatches;
        Interlocked.Increment(ref count);
    }

    public IEnumerable<(string Name, string Value)> Read(TimeProvider time) =>
    [
        ("pid", Text(Environment.ProcessId)),
        ("uptime", Text((long)time.GetElapsedTime(_began).TotalSeconds)),
        ("time", Text(time.GetUtcNow().ToUnixTimeSeconds())),
        ("version", Version),
        ("pointer_size", Text(8 * IntPtr.Size)),
        ("craq_build", CorfuNode.Build),
        ("craq_listener", listener),
        ("curr_connections", Text(Volatile.Read(ref _open))),
        ("total_connections", Text(Volatile.Read(ref _connections))),
        ("cmd_get", Text(Volatile.Read(ref _hits) + Volatile.Read(ref _misses))),
        ("get_hits", Text(Volatile.Read(ref _hits))),
        ("get_misses", Text(Volatile.Read(ref _misses))),
        ("cmd_set", Text(Volatile.Read(ref _written) + Volatile.Read(ref _mismatches)
            + Volatile.Read(ref _unknown))),
        ("craq_written", Text(Volatile.Read(ref _written))),
        ("craq_mismatch", Text(Volatile.Read(ref _mismatches))),
        ("craq_unknown", Text(Volatile.Read(ref _unknown))),
        ("craq_failed", Text(Volatile.Read(ref _failed))),
    ];

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}
