using Corfu.Conformance;
using Corfu.Storage;
using Craq.Storage;

namespace Craq.Tests.Storage;

/// <summary>C22, R6: a power cut at any moment leaves every acknowledged record, and of the others a prefix.</summary>
public sealed class PowerCutTests : IDisposable
{
    private const int Records = 500;

    private readonly string _folder = Directory.CreateTempSubdirectory("craq-cuts-").FullName;

    public void Dispose() => Directory.Delete(_folder, true);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Disk_after_a_cut_holds_all_that_was_acknowledged(int seed)
    {
        var random = new Random(seed);
        var before = new RecordingFiles();
        var files = before.Copy();
        var node = await OpenAsync(files, "life", null);
        var acknowledged = new List<(int Events, Dictionary<ChainId, ObjectVersion> Last)>();
        await NodeHistory.RunAsync(node, random, Records, () =>
        {
            var last = node.Locked(node.DurableVersions);
            acknowledged.Add((files.EventCount, last));
        });
        await node.DisposeAsync();
        for (var cut = 0; cut < 25; cut++)
        {
            var count = random.Next(files.EventCount + 1);
            var disk = files.AfterCrash(before, count, write => CrashFate.Of(random, write));
            var after = await OpenAsync(disk, $"cut {seed} {cut}", node);
            foreach (var (_, last) in acknowledged.Where(a => a.Events <= count))
            {
                foreach (var (chain, version) in last)
                    Assert.True(after.Of(chain).Last >= version, $"cut {count}: {version} of {chain} is lost");
            }

            await after.CleanUpAsync();
            await after.CheckAsync();
            await after.DisposeAsync();
        }
    }

    private async Task<TestNode> OpenAsync(RecordingFiles files, string index, TestNode? before) =>
        await TestNode.OpenAsync(
            NodeStores.OnFaster(files, TestNode.Id, TestNode.Small, Path.Combine(_folder, index)), before);
}
