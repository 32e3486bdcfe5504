using Corfu.Load;

namespace Corfu.Peers;

/// <summary>Keys and the value of all systems.</summary>
internal static class Values
{
    /// <summary>The key that all reads are of.</summary>
    public const string ReadKey = "peers-read";

    private const int Seed = 1;

    public static string[] Keys(LoadShape load) =>
        [.. Enumerable.Range(0, load.MaxCallers).Select(caller => $"peers-{caller:000}")];

    /// <summary>Not compressible, and the same in every run.</summary>
    public static byte[] Value(LoadShape load)
    {
        var value = new byte[load.Size];
        new Random(Seed).NextBytes(value);
        return value;
    }

    public static void Require(int length, LoadShape load)
    {
        if (length != load.Size) throw new PeerException($"A read returned {length} bytes, not {load.Size}.");
    }
}
