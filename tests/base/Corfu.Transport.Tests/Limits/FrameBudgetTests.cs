using Corfu.Protocol;
using Corfu.Server;

namespace Corfu.Transport.Tests.Limits;

public sealed class FrameBudgetTests : IDisposable
{
    private readonly ManualTime _time = new();
    private readonly RoleRegistry _registry;
    private readonly FrameBudget _budget;

    public FrameBudgetTests()
    {
        _registry = new RoleRegistry(TestServer.Cluster, new RequestTable(UnitMessages.AddTo),
            new ServerTransportOptions { MaxFrameBytes = 100, MaxIdentityFrameBytes = 40, ReservedFrameBytes = 30 },
            _time);
        _budget = _registry.Frames;
    }

    public void Dispose() => _registry.Dispose();

    [Fact]
    public void Identity_at_the_limit_waits_and_holds_up_no_other()
    {
        var (one, two) = (Client("one"), Client("two"));
        Assert.True(_budget.TryTake(one, 40));
        Assert.False(_budget.TryTake(one, 1));
        var waiter = _budget.Wait(one, 20);
        Assert.True(_budget.TryTake(two, 40));
        Assert.False(waiter.Granted.IsCompleted);
        _budget.Return(one, 40);
        Assert.True(waiter.Granted.IsCompletedSuccessfully);
        Assert.Equal(20, one.FrameBytes);
    }

    [Fact]
    public void Nodes_have_more_when_clients_have_taken_all()
    {
        foreach (var name in (string[])["a", "b", "c", "d"]) Assert.True(_budget.TryTake(Client(name), 25));
        Assert.False(_budget.TryTake(Client("e"), 1));
        var node = new Identity(new Principal(AccessRole.Node, "n") { Serial = "01" }, isNode: true, _time);
        Assert.True(_budget.TryTake(node, 30));
        Assert.False(_budget.TryTake(node, 1));
    }

    [Fact]
    public void Frames_that_wait_for_the_whole_budget_are_granted_in_order()
    {
        var taken = Enumerable.Range(0, 4).Select(i => Client($"t{i}")).ToList();
        foreach (var identity in taken) Assert.True(_budget.TryTake(identity, 25));
        var large = _budget.Wait(Client("large"), 40);
        var small = _budget.Wait(Client("small"), 5);
        _budget.Return(taken[0], 25);
        Assert.False(large.Granted.IsCompleted);
        Assert.False(small.Granted.IsCompleted);
        Assert.False(_budget.TryTake(Client("newcomer"), 5));
        _budget.Return(taken[1], 25);
        Assert.True(large.Granted.IsCompletedSuccessfully);
        Assert.True(small.Granted.IsCompletedSuccessfully);
    }

    [Fact]
    public async Task Cancelled_wait_takes_no_memory_and_lets_the_next_one_on()
    {
        var taken = Enumerable.Range(0, 3).Select(i => Client($"t{i}")).ToList();
        foreach (var identity in taken) Assert.True(_budget.TryTake(identity, 30));
        var large = _budget.Wait(Client("large"), 40);
        var small = _budget.Wait(Client("small"), 10);
        _budget.Cancel(large);
        _budget.Cancel(large);
        Assert.False(await large.Granted);
        Assert.True(await small.Granted);
        Assert.False(_budget.TryTake(Client("more"), 1));
    }

    [Fact]
    public void Frame_larger_than_a_limit_has_the_whole_limit()
    {
        var one = Client("one");
        Assert.True(_budget.TryTake(one, 1000));
        Assert.False(_budget.TryTake(Client("two"), 1));
        _budget.Return(one, 1000);
        Assert.True(_budget.TryTake(Client("two"), 1));
    }

    private Identity Client(string name) =>
        new(new Principal(AccessRole.Client, name) { Serial = "01" }, isNode: false, _time);
}
