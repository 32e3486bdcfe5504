using Corfu.Conformance;

namespace Corfu.Unit.Tests;

public sealed class MemoryStoreConformanceTests : PageStoreConformance
{
    protected override bool Survives => false;

    internal override IPageStore Create() => new MemoryPageStore();
}

public sealed class PlainStoreConformanceTests : PageStoreConformance
{
    private readonly RecordingFiles _files = new();
    private readonly MemoryMapFiles _maps = new();

    internal override IPageStore Create() => Stores.Plain(_files, _maps, Stores.Small);
}

public sealed class FasterStoreConformanceTests : PageStoreConformance
{
    private readonly TempFolder _folder = new();

    internal override IPageStore Create() => Stores.Faster(_folder.Path, Stores.Small);

    protected override void Cleanup() => _folder.Dispose();
}

public sealed class FasterStoreDefaultSizesConformanceTests : PageStoreConformance
{
    private readonly TempFolder _folder = new();

    internal override IPageStore Create() => Stores.Faster(_folder.Path, new PageStoreOptions());

    protected override void Cleanup() => _folder.Dispose();
}
