using Corfu.Conformance;

namespace Corfu.Storage.Tests;

public sealed class FasterRecordLogConformanceTests : RecordLogConformance
{
    internal override IRecordLog Open(RecordingFiles files, RecordLogSizes sizes) =>
        new FasterRecordLog(files, Space(files, sizes), sizes);
}

public sealed class PlainRecordLogConformanceTests : RecordLogConformance
{
    internal override IRecordLog Open(RecordingFiles files, RecordLogSizes sizes) =>
        new PlainRecordLog(files, Space(files, sizes), sizes);
}
