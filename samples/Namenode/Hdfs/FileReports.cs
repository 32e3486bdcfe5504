using Google.Protobuf;
using NamenodeSample.Hdfs.Wire;
using NamenodeSample.Tree;

namespace NamenodeSample.Hdfs;

/// <summary>Files and directories as Hadoop's clients read them.</summary>
internal static class FileReports
{
    private const ulong None = ulong.MaxValue;
    private const int ListingEntries = 1_000;
    private const uint Replication = 1;
    private const ulong BlockBytes = 128 << 20;

    // Clients divide by the capacity: a namenode without datanodes cannot say 0.
    private const ulong Capacity = 1UL << 40;
    private const string NoUser = "hdfs";
    private const string NoGroup = "supergroup";

    /// <returns>Null: there is none.</returns>
    public static FileStatus? Status(Node? node, string name) => node is null
        ? null
        : new FileStatus
        {
            Type = node.Children is null ? FileType.File : FileType.Directory,
            Name = ByteString.CopyFromUtf8(name),
            Length = (ulong)node.Length,
            Permission = new Permission { Bits = (uint)node.Mode },
            Owner = node.Owner.Length == 0 ? NoUser : node.Owner,
            Group = node.Group.Length == 0 ? NoGroup : node.Group,
            Modified = (ulong)node.Modified,
            Accessed = (ulong)node.Accessed,
            Replication = node.Children is null ? Replication : 0,
            BlockSize = node.Children is null ? BlockBytes : 0,
            Id = (ulong)node.Id,
            Children = node.Children?.Count ?? 0,
        };

    /// <summary>A part of a directory, in the order of names; of a file, the file.</summary>
    public static ListingResponse List(Node? node, string startAfter)
    {
        if (node is null) return new ListingResponse();
        if (node.Children is null)
            return new ListingResponse { Listing = new Listing { Entries = { Status(node, "") }, Remaining = 0 } };
        List<KeyValuePair<string, Node>> rest =
            [.. node.Children.Where(child => string.CompareOrdinal(child.Key, startAfter) > 0)];
        var listing = new Listing { Remaining = (uint)Math.Max(0, rest.Count - ListingEntries) };
        listing.Entries.AddRange(rest.Take(ListingEntries).Select(static child => Status(child.Value, child.Key)));
        return new ListingResponse { Listing = listing };
    }

    public static SummaryResponse Summarize(Node node)
    {
        var (files, directories, length) = Count(node);
        return new SummaryResponse
        {
            Summary = new Summary
            {
                Files = files,
                Directories = directories,
                Length = length,
                SpaceConsumed = length * Replication,
                Quota = None,
                SpaceQuota = None,
            },
        };
    }

    /// <returns>Neither: the file has blocks.</returns>
    public static (Refusal? Refusal, LocationsResponse? Locations) Locate(Node? node) => node switch
    {
        null => (Refusal.NotFound, null),
        { Children: not null } => (Refusal.NotAFile, null),
        { Blocks.Count: > 0 } => (null, null),
        _ => (null, new LocationsResponse
        {
            Locations = new Locations { FileLength = 0, IsOpen = !node.IsComplete, IsLastBlockComplete = true },
        }),
    };

    public static FsStatsResponse Stats(NamespaceTree tree)
    {
        ulong used = Math.Min(Capacity, Count(tree.Find("")!).Length);
        return new FsStatsResponse
        {
            Capacity = Capacity,
            Used = used,
            Remaining = Capacity - used,
            UnderReplicated = 0,
            CorruptBlocks = 0,
            MissingBlocks = 0,
        };
    }

    public static DefaultsResponse Defaults() => new()
    {
        Defaults = new Defaults
        {
            BlockSize = BlockBytes,
            BytesPerChecksum = 512,
            WritePacketSize = 64 << 10,
            Replication = Replication,
            FileBufferSize = 4_096,
        },
    };

    private static (ulong Files, ulong Directories, ulong Length) Count(Node node)
    {
        if (node.Children is null) return (1, 0, (ulong)node.Length);
        (ulong Files, ulong Directories, ulong Length) all = (0, 1, 0);
        foreach (Node child in node.Children.Values)
        {
            var (files, directories, length) = Count(child);
            all = (all.Files + files, all.Directories + directories, all.Length + length);
        }

        return all;
    }
}
