using NamespaceSample.Model;
using NamespaceSample.Service;
using NamespaceSample.Watch;

namespace NamespaceSample.Tests;

public sealed class WatchTests
{
    private static readonly NamespaceChange[] s_changes =
    [
        new NamespaceChange.MakeDirectory("/src", "d", 1),
        new NamespaceChange.CreateFile("/src/f", "f", 1, 1),
        new NamespaceChange.MakeDirectory("/src/e", "e", 1),
        new NamespaceChange.Rename("/src/f", "/src/e/f", 1),
    ];

    private static readonly string[] s_told = ["+/src", "+/src/f", "+/src/e", "-/src/f", "+/src/e/f"];

    // Before everything.
    private static WatchPlace Beginning
    {
        get
        {
            Assert.True(WatchPlace.TryParse("0.-1_0.-1", out WatchPlace place));
            return place;
        }
    }

    [Fact]
    public async Task Changes_are_reported_in_order()
    {
        await using var logs = new Logs();
        await logs.HostAsync();
        NamespaceService service = await logs.OpenAsync();
        foreach (NamespaceChange change in s_changes) await service.ChangeAsync(change);
        var events = await ReadAsync(service, "/", Beginning, s_told.Length);
        Assert.Equal(s_told, events.Select(Text));
        // From each event on, the rest, by the text of its id.
        for (int i = 0; i < events.Count - 1; i++)
        {
            Assert.True(WatchPlace.TryParse(events[i].Id.ToString(), out WatchPlace place));
            Assert.Equal(s_told[(i + 1)..], (await ReadAsync(service, "/", place, s_told.Length - i - 1)).Select(Text));
        }

        Assert.Equal(["+/src/e", "+/src/e/f"], (await ReadAsync(service, "/src/e", Beginning, 2)).Select(Text));
    }

    /// <summary>The first event's id says where to go on in the other partition, too.</summary>
    [Fact]
    public async Task A_watch_that_began_now_resumes_in_both_partitions()
    {
        await using var logs = new Logs();
        await logs.HostAsync();
        NamespaceService service = await logs.OpenAsync();
        await using var events = NamespaceWatch.ReadAsync(service, "/", WatchPlace.Now).GetAsyncEnumerator();
        ValueTask<bool> first = events.MoveNextAsync();
        // Until the watch has begun, a change may be before it.
        for (int i = 0; !first.IsCompleted; i++)
            await service.ChangeAsync(new NamespaceChange.MakeDirectory($"/src{i * 2}", $"s{i}", 1));
        await first;
        string id = events.Current.Id.ToString();
        int partition = PartitionMap.IndexOf(events.Current.Path);
        string other = new[] { "/src", "/docs" }.First(path => PartitionMap.IndexOf(path) != partition);
        await service.ChangeAsync(new NamespaceChange.MakeDirectory(other, "other", 1));
        Assert.True(WatchPlace.TryParse(id, out WatchPlace place));
        Assert.Equal("+" + other, Text(Assert.Single(await ReadAsync(service, other, place, 1))));
    }

    [Theory]
    [InlineData("")]
    [InlineData("1.2")]
    [InlineData("1.2_x.1")]
    [InlineData("-1.0_")]
    [InlineData("1.2_1.2_1.2")]
    public void Text_that_is_no_place_is_refused(string text) => Assert.False(WatchPlace.TryParse(text, out _));

    private static string Text(NamespaceEvent change) => (change.Entry is null ? "-" : "+") + change.Path;

    private static async Task<List<NamespaceEvent>> ReadAsync(
        NamespaceService service, string directory, WatchPlace after, int count) =>
        await NamespaceWatch.ReadAsync(service, directory, after).Take(count).ToListAsync()
            .AsTask().WaitAsync(TimeSpan.FromSeconds(20));
}
