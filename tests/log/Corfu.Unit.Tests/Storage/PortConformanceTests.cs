using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Storage;

namespace Corfu.Unit.Tests;

public sealed class FasterAddressMapConformanceTests : AddressMapConformance, IDisposable
{
    private readonly TempFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    internal override IAddressMaps<long, PageEntry> Maps() =>
        PageMaps.OnFaster(Path.Combine(_folder.Path, "map"), Stores.Small);

    [Fact]
    public async Task A_full_disk_costs_no_slot_and_no_unit()
    {
        const int Slots = 60_000;
        var full = false;
        var maps = PageMaps.OnFaster(Path.Combine(_folder.Path, "map"), Stores.Small, (file, path, bytes, offset) =>
        {
            if (full) throw FullDisk.Error();
            DurableFile.Write(file, path, bytes, offset);
        });
        using var map = maps.Open(null, error => Assert.Fail(error.Message));
        Fill(0);
        full = true;
        Fill(Slots);
        Check(0);
        Check(Slots);
        var failed = map.BeginCheckpoint();
        await Assert.ThrowsAnyAsync<IOException>(async () => await map.EndCheckpointAsync(failed));
        full = false;
        Fill(2 * Slots);
        for (var from = 0; from <= 2 * Slots; from += Slots) Check(from);
        await map.EndCheckpointAsync(map.BeginCheckpoint());

        void Fill(int from)
        {
            for (var i = from; i < from + Slots; i++)
                map.Set(i, new PageEntry(new PageSlot(PageState.Data, i * 100L, 10, 5, default, i)));
        }

        void Check(int from)
        {
            for (var i = from; i < from + Slots; i++) Assert.Equal(i * 100L, map.Find(i).ToSlot().Address);
        }
    }
}

public sealed class PlainAddressMapConformanceTests : AddressMapConformance
{
    private readonly MemoryMapFiles _files = new();

    internal override IAddressMaps<long, PageEntry> Maps() => new PlainAddressMaps<long, PageEntry>(_files);
}
