using System.Text;
using Tango.Collections;

namespace NamespaceSample.Service;

/// <summary>
/// Which partition a path is in: by its first name, so that everything below a top-level directory is in one, and a
/// rename from one top-level directory to another may cross. The root's own list of names is in both.
/// </summary>
public static class PartitionMap
{
    public const int Count = 2;

    private const ulong OffsetBasis = 0xCBF2_9CE4_8422_2325;
    private const ulong Prime = 0x0000_0100_0000_01B3;

    /// <param name="path">Not the root.</param>
    public static int IndexOf(string path)
    {
        int end = path.IndexOf('/', 1);
        string first = end < 0 ? path[1..] : path[1..end];
        // FNV-1a: the same in every process, unlike the hash codes of strings.
        ulong hash = OffsetBasis;
        foreach (byte part in Encoding.UTF8.GetBytes(first)) hash = (hash ^ part) * Prime;
        return (int)((hash ^ (hash >> 32)) % Count);
    }

    /// <summary>Whether the partition has a share of what stands below the path.</summary>
    public static bool Holds(int partition, string path) => path == TreePath.Root || IndexOf(path) == partition;
}
