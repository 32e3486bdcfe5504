using Corfu.Protocol;

namespace Corfu.Detection.Tests;

public sealed class PeerTableTests
{
    private const int Processes = 10;

    private static readonly NodeEndpoint[] All =
        [.. Enumerable.Range(0, Processes).Select(i => new NodeEndpoint("test", 100 + i))];

    private static PeerTable Of(int self, Predicate<int> isAlive, bool all = false)
    {
        var table = new PeerTable(All[self], TimeSpan.FromMinutes(1));
        foreach (var endpoint in All) table.Add(endpoint, TimeSpan.Zero);
        table.Watch(peer => isAlive(peer.Endpoint.Port - 100), all);
        return table;
    }

    private static int[] Watched(PeerTable table) =>
        [.. table.All.Where(p => p.IsWatched).Select(p => p.Endpoint.Port - 100)];

    [Fact]
    public void Every_process_is_watched_by_the_next_three_and_by_itself()
    {
        Assert.Equal([4, 5, 6, 7], Watched(Of(7, _ => true)));
        Assert.Equal([0, 1, 8, 9], Watched(Of(1, _ => true)));
    }

    [Theory]
    [InlineData(new int[0])]
    [InlineData(new[] { 3 })]
    [InlineData(new[] { 3, 4 })]
    [InlineData(new[] { 0, 8, 9 })]
    [InlineData(new[] { 1, 3, 5, 7, 9 })]
    public void Every_process_is_watched_by_three_live_agents_whichever_are_gone(int[] gone)
    {
        bool IsAlive(int i) => !gone.Contains(i);
        for (var process = 0; process < Processes; process++)
        {
            var watchers = Enumerable.Range(0, Processes).Where(i => i != process && IsAlive(i))
                .Where(i => Watched(Of(i, IsAlive)).Contains(process));
            Assert.Equal(3, watchers.Count());
        }
    }

    [Fact]
    public void First_of_the_watchers_has_no_agent_before()
    {
        Assert.Equal([0, 1, 2],
            Enumerable.Range(0, 3).Select(i => Of((9 + i) % Processes, _ => true).AgentsBetween(All[8], _ => true)));
        Assert.Equal(0, Of(0, i => i != 9).AgentsBetween(All[8], peer => peer.Endpoint != All[9]));
    }

    [Fact]
    public void Processes_watched_by_other_agents_are_polled_one_after_another()
    {
        var table = Of(7, _ => true);
        Assert.Equal([0, 1, 2, 3, 8, 9, 0],
            Enumerable.Range(0, 7).Select(_ => table.NextToPoll()!.Endpoint.Port - 100));
        Assert.Null(Of(7, _ => true, all: true).NextToPoll());
    }

    [Fact]
    public void A_process_that_the_projection_does_not_name_and_that_is_not_heard_of_is_forgotten_and_told_to_none()
    {
        var table = Of(0, _ => true);
        var limit = TimeSpan.FromMinutes(1);
        table.Find(All[1])!.Hear(TimeSpan.FromSeconds(1));
        table.Find(All[2])!.Hear(limit);
        Assert.Equal([All[0], All[1], All[2]], table.Heard(limit));
        Assert.True(table.Forget(endpoint => endpoint == All[3], limit));
        Assert.Equal([All[0], All[1], All[2], All[3]], table.All.Select(p => p.Endpoint));
        Assert.True(table.Forget(endpoint => endpoint == All[3], limit + TimeSpan.FromSeconds(1)));
        Assert.Equal([All[0], All[2], All[3]], table.All.Select(p => p.Endpoint));
        Assert.False(table.Forget(endpoint => endpoint == All[3], limit + TimeSpan.FromSeconds(1)));
    }
}
