using Salus.Coordination.Tests.Support;
using Tango;
using Tango.Testing;

namespace Salus.Coordination.Tests;

public sealed class NodeBookTests : IAsyncDisposable
{
    private static readonly TimeSpan s_timeToLive = TimeSpan.FromSeconds(3);

    private readonly TangoTestHost _host = new();

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task Node_is_seen_by_every_process_until_the_lease_is_ended()
    {
        var (one, two) = (await OpenAsync(), await OpenAsync());
        var lease = await RunAsync(one.RegisterAsync(Node(1, 1), s_timeToLive));
        var view = await RunAsync(two.ViewAsync());
        Assert.True(view.MayLive(TestVolume.Store(1), TestVolume.Name(1)));
        Assert.Equal("rack", view.Find(TestVolume.Store(1))!.Domain);
        await _host.Time.AdvanceUntilAsync(lease.DisposeAsync().AsTask());
        view = await RunAsync(two.ViewAsync());
        Assert.False(view.MayLive(TestVolume.Store(1), TestVolume.Name(1)));
        Assert.Equal(BookedState.Gone, view.Find(TestVolume.Store(1))!.State);
    }

    [Fact]
    public async Task Process_cut_off_is_gone_behind_the_lease()
    {
        var process = _host.Start();
        var (dying, other) = (await OpenAsync(process), await OpenAsync());
        var lease = await RunAsync(dying.RegisterAsync(Node(1, 1), s_timeToLive));
        await RunAsync(other.ViewAsync());
        process.Connection.Lose();
        var gone = RunAsync(other.WaitForViewAsync(1));
        Assert.Equal(BookedState.Gone, (await gone).Find(TestVolume.Store(1))!.State);
        // The owner has stopped before: leases end at their owners first.
        Assert.False(lease.IsHeld);
    }

    [Fact]
    public async Task New_process_of_a_folder_replaces_the_entry_at_once()
    {
        var book = await OpenAsync();
        await RunAsync(book.RegisterAsync(Node(1, 1), s_timeToLive));
        var second = await RunAsync(book.RegisterAsync(Node(1, 2), s_timeToLive));
        var view = await RunAsync(book.ViewAsync());
        Assert.Single(view.Stores);
        Assert.False(view.MayLive(TestVolume.Store(1), TestVolume.Name(1)));
        Assert.True(view.MayLive(TestVolume.Store(1), TestVolume.Name(2)));
        await PassAsync(TimeSpan.FromSeconds(20));
        Assert.True(second.IsHeld);
    }

    /// <summary>S8: members have counted it as gone.</summary>
    [Fact]
    public async Task Incarnation_never_registers_twice()
    {
        var book = await OpenAsync();
        var lease = await RunAsync(book.RegisterAsync(Node(1, 1), s_timeToLive));
        await _host.Time.AdvanceUntilAsync(lease.DisposeAsync().AsTask());
        var refused = await Assert.ThrowsAsync<TangoRejectedException>(
            () => RunAsync(book.RegisterAsync(Node(1, 1), s_timeToLive)));
        Assert.Contains("new one", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Nodes_without_an_identity_are_refused()
    {
        var book = await OpenAsync();
        foreach (var node in (BookedNode[])[Node(1, 1) with { Incarnation = default },
            Node(1, 1) with { Store = default }, Node(1, 1) with { Domain = new string('x', 256) }])
        {
            await Assert.ThrowsAnyAsync<TangoException>(() => RunAsync(book.RegisterAsync(node, s_timeToLive)));
        }

        Assert.Empty((await RunAsync(book.ViewAsync())).Stores);
    }

    [Fact]
    public async Task Expelled_node_renews_no_more()
    {
        var book = await OpenAsync();
        var lease = await RunAsync(book.RegisterAsync(Node(1, 1), s_timeToLive));
        var (store, name) = (TestVolume.Store(1).Value, TestVolume.Name(1).Value);
        Assert.False(await RunAsync(book.ExpelAsync(store, TestVolume.Name(2).Value)));
        Assert.True(await RunAsync(book.ExpelAsync(store, name)));
        Assert.Equal(BookedState.Expelled, (await RunAsync(book.ViewAsync())).Find(TestVolume.Store(1))!.State);
        await PassAsync(TimeSpan.FromSeconds(10));
        Assert.Equal(BookedState.Gone, (await RunAsync(book.ViewAsync())).Find(TestVolume.Store(1))!.State);
        Assert.False(lease.IsHeld);
        Assert.False(await RunAsync(book.ExpelAsync(store, name)));
        Assert.False(await RunAsync(book.SetFreeAsync(store, name, 5)));
    }

    [Fact]
    public async Task Store_is_forgotten_when_no_process_serves_the_store()
    {
        var book = await OpenAsync();
        var store = TestVolume.Store(1).Value;
        var lease = await RunAsync(book.RegisterAsync(Node(1, 1), s_timeToLive));
        Assert.True(await RunAsync(book.SetFreeAsync(store, TestVolume.Name(1).Value, 5)));
        Assert.Equal(5, (await RunAsync(book.ViewAsync())).Find(TestVolume.Store(1))!.Free);
        Assert.Contains("stop it", await RunAsync(book.ForgetAsync(store)), StringComparison.Ordinal);
        await _host.Time.AdvanceUntilAsync(lease.DisposeAsync().AsTask());
        Assert.Null(await RunAsync(book.ForgetAsync(store)));
        Assert.Empty((await RunAsync(book.ViewAsync())).Stores);
    }

    [Fact]
    public async Task Renewals_change_no_view()
    {
        var book = await OpenAsync();
        await RunAsync(book.RegisterAsync(Node(1, 1), s_timeToLive));
        var before = await RunAsync(book.ViewAsync());
        await PassAsync(TimeSpan.FromSeconds(10));
        Assert.Equal(before.Revision, (await RunAsync(book.ViewAsync())).Revision);
    }

    private static BookedNode Node(int store, int incarnation) =>
        new(TestVolume.Store(store), TestVolume.Name(incarnation), new NodeEndpoint("127.0.0.1", 4000), "rack", 1000,
            BookedState.Live, 0);

    private Task<NodeBook> OpenAsync(TestProcess? process = null) => RunAsync(
        (process ?? _host.Start()).Runtime.OpenAsync<NodeBook>(NodeBook.DefaultName, OpenMode.Create));

    private async Task<T> RunAsync<T>(ValueTask<T> call)
    {
        var task = call.AsTask();
        await _host.Time.AdvanceUntilAsync(task);
        return await task;
    }

    private Task PassAsync(TimeSpan time) => _host.Time.AdvanceUntilAsync(Task.Delay(time, _host.Time));
}
