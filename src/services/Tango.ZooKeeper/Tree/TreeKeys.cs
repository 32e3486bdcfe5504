using System.IO.Hashing;
using System.Runtime.InteropServices;

namespace Tango.ZooKeeper;

/// <summary>
/// Version keys of a tree (Z15): hashes of paths and numbers, so that a record of a long path stays short. Two paths of
/// one hash conflict where they need not.
/// </summary>
/// <remarks>A create writes the children of its parent, a delete also the node, other writes the node. So what a
/// transaction has read as absent, or as without children, is covered by the key of the children.</remarks>
internal static class TreeKeys
{
    // Beyond it a record stands for the whole tree.
    private const int Most = 256;

    private const byte UInt64Code = 0xcf;

    /// <summary>The tables of sessions and of front ends.</summary>
    public static ObjectKey Sessions { get; } = Of(0, Kind.Sessions);

    /// <summary>Data, access control list and existence of a node.</summary>
    public static ObjectKey Node(string path) => Of(path, Kind.Node);

    /// <summary>Children of a node, and the counter of their names.</summary>
    public static ObjectKey Children(string path) => Of(path, Kind.Children);

    public static ObjectKey Session(long id) => Of(id, Kind.Session);

    public static ObjectKey FrontEnd(long id) => Of(id, Kind.FrontEnd);

    /// <param name="keys">None: the whole tree.</param>
    public static ObjectKey All(IEnumerable<ObjectKey> keys)
    {
        var distinct = keys.ToHashSet();
        return distinct.Count is 0 or > Most ? ObjectKey.None : ObjectKey.List([.. distinct]);
    }

    private static ObjectKey Of(string path, Kind kind) =>
        Of(XxHash3.HashToUInt64(MemoryMarshal.AsBytes(path.AsSpan()), (long)kind));

    private static ObjectKey Of(long id, Kind kind) =>
        Of(XxHash3.HashToUInt64(BitConverter.GetBytes(id), (long)kind));

    // A number of MessagePack, as tools show it.
    private static ObjectKey Of(ulong hash)
    {
        Span<byte> bytes = stackalloc byte[1 + sizeof(ulong)];
        bytes[0] = UInt64Code;
        System.Buffers.Binary.BinaryPrimitives.WriteUInt64BigEndian(bytes[1..], hash);
        return new ObjectKey(bytes);
    }

    // Part of the format: another number is another key.
    private enum Kind
    {
        Node = 1,
        Children = 2,
        Session = 3,
        FrontEnd = 4,
        Sessions = 5,
    }
}
