using System.Collections.Immutable;
using NamespaceSample.Load;
using NamespaceSample.Model;
using NamespaceSample.Service;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Tests;

public sealed class LoadTests
{
    private static readonly NamespaceChange[] s_start =
    [
        new NamespaceChange.MakeDirectory("/src", "d1", 1),
        new NamespaceChange.MakeDirectory("/docs", "d2", 1),
        new NamespaceChange.CreateFile("/src/a", "f1", 1, 1),
        new NamespaceChange.CreateFile("/docs/b", "f2", 1, 1),
    ];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Three_clients_lose_no_change(int seed)
    {
        await using var logs = new Logs();
        await using var run = new LoadRun(_ => Task.FromResult(logs.NewRuntime()), seed);
        int made = 0;
        LoadReport report = await run.RunAsync(s_start, 60, () => Interlocked.Increment(ref made), default);
        Assert.Null(report.Difference);
        Assert.Equal("clients=3 changes=184 lost=0 twice=0 orphans=0 match=yes", report.ToString());
        Assert.Equal(184, made);
    }

    [Fact]
    public void Lost_and_doubled_and_orphaned_entries_are_counted()
    {
        CommittedChange[] changes =
            [.. s_start.Select((change, i) => new CommittedChange(new RecordVersion(new(i), 0), change))];
        // docs is lost and b an orphan; a is at two paths.
        NamespaceState state = State(
            ("/src", Entry.Directory("d1", 1)), ("/src/a", Entry.File("f1", 1, 1)),
            ("/src/c", Entry.File("f1", 1, 1)), ("/docs/b", Entry.File("f2", 1, 1)));
        LoadReport report = LoadCheck.Compare(3, changes, state);
        Assert.Equal("clients=3 changes=4 lost=1 twice=1 orphans=1 match=no", report.ToString());
        Assert.NotNull(report.Difference);
    }

    private static NamespaceState State(params (string Path, Entry Entry)[] entries) => new(
        [.. Enumerable.Range(0, PartitionMap.Count).Select(index => new PartitionState(
            index,
            entries.Where(e => PartitionMap.IndexOf(e.Path) == index)
                .ToImmutableDictionary(e => e.Path, e => new TreeNode<Entry>(e.Entry, 1)),
            ImmutableDictionary<string, ImmutableSortedDictionary<string, string>>.Empty, 0))]);
}
