using System.IO.Hashing;
using System.Runtime.InteropServices;

namespace Tango.ZooKeeper;

/// <summary>Paths that are their own keys.</summary>
internal readonly struct PathKeys : ITrieKeys<string, string>
{
    public static string KeyOf(string item) => item;

    public static ulong Hash(string key, ulong seed) =>
        XxHash3.HashToUInt64(MemoryMarshal.AsBytes(key.AsSpan()), (long)seed);

    public static bool IsKeyOf(string item, string key) => item == key;

    public static int Compare(string left, string right) => string.CompareOrdinal(left, right);
}
