using Corfu.Conformance;

namespace Corfu.Unit.Tests;

public sealed class FasterRecordLogConformanceTests : RecordLogConformance
{
    protected override object Open(RecordingFiles files, PageStoreOptions options) => new FasterRecordLog(files, Space(files, options), options);
}

public sealed class PlainRecordLogConformanceTests : RecordLogConformance
{
    protected override object Open(RecordingFiles files, PageStoreOptions options) => new PlainRecordLog(files, Space(files, options), options);
}

public sealed class FasterAddressMapConformanceTests : AddressMapConformance, IDisposable
{
    private readonly TempFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    protected override object Maps() => new FasterAddressMaps(Path.Combine(_folder.Path, "map"), Stores.Small);
}

public sealed class PlainAddressMapConformanceTests : AddressMapConformance
{
    private readonly MemoryMapFiles _files = new();

    protected override object Maps() => new PlainAddressMaps(_files);
}
