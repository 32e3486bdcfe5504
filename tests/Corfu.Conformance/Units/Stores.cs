using Corfu.Protocol;
using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.Conformance;

internal static class Stores
{
    public static readonly NodeId Unit = new(new Guid("aaaaaaaa-0000-0000-0000-000000000001"));

    /// <summary>Small enough that a few hundred pages cross log pages, segments and the memory of the address
    /// map.</summary>
    public static readonly PageStoreOptions Small = new()
    {
        LogPageSize = 16 << 10,
        LogMemory = 8 * (128 << 10),
        SegmentSize = 64 << 10,
        Reserve = 32 << 10,
        HotBytes = 32 << 10,
        MapIndexSize = 4096,
        MapMemory = 1 << 20,
    };

    public static PageStore Faster(string folder, PageStoreOptions options) =>
        PageStore.OnFaster(new DirectorySegmentFiles(Path.Combine(folder, "log")), Unit, options,
            Path.Combine(folder, "map"));

    /// <summary>On the simulator's ports, with real threads.</summary>
    internal static PageStore Plain(ISegmentFiles files, IMapFiles maps, PageStoreOptions options) =>
        new(files, (f, space, o) => new PlainRecordLog(f, space, o), new PlainAddressMaps<long, PageEntry>(maps),
            ThreadWorkers.Instance, Unit, options);
}
