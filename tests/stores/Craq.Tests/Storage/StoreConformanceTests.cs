using Corfu.Conformance;
using Corfu.Storage;
using Craq.Storage;

namespace Craq.Tests.Storage;

public sealed class FasterNodeStoreTests : NodeStoreConformance
{
    private readonly string _folder = Directory.CreateTempSubdirectory("craq-store-").FullName;

    internal override NodeStore Create(RecordingFiles files, NodeStoreOptions options) =>
        NodeStores.OnFaster(files, TestNode.Id, options, Path.Combine(_folder, "index"));

    protected override void DropIndex() => Directory.Delete(Path.Combine(_folder, "index"), true);

    protected override void Cleanup() => Directory.Delete(_folder, true);
}

public sealed class PlainNodeStoreTests : NodeStoreConformance
{
    private MemoryMapFiles _maps = new();

    internal override NodeStore Create(RecordingFiles files, NodeStoreOptions options) => NodeStores.On(files,
        static (f, space, sizes) => new PlainRecordLog(f, space, sizes),
        new PlainAddressMaps<ObjectHash, ObjectEntry>(_maps), ThreadWorkers.Instance, TestNode.Id, options);

    protected override void DropIndex() => _maps = new MemoryMapFiles();
}
