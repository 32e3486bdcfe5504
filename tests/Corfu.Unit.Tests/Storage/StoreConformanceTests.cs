using Corfu.Conformance;

namespace Corfu.Unit.Tests;

public sealed class MemoryStoreConformanceTests : PageStoreConformance
{
    protected override bool Survives => false;

    protected override IPageStore Create() => new MemoryPageStore();
}

public sealed class LogStoreConformanceTests : PageStoreConformance
{
    private readonly MemoryLogDevice _device = new();

    protected override IPageStore Create() => new LogPageStore(_device, Stores.Unit);
}

public sealed class FasterStoreConformanceTests : PageStoreConformance
{
    private readonly TempFolder _folder = new();

    protected override IPageStore Create() => Stores.Faster(_folder.Path, Stores.Small);

    protected override void Cleanup() => _folder.Dispose();
}

public sealed class FasterStoreDefaultSizesConformanceTests : PageStoreConformance
{
    private readonly TempFolder _folder = new();

    protected override IPageStore Create() => Stores.Faster(_folder.Path, new FasterStoreOptions());

    protected override void Cleanup() => _folder.Dispose();
}
