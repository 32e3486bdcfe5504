using Corfu.Protocol;
using Tango.Testing;
using Tango.Calls;
using static Tango.Tests.Checkpoints.CheckpointWorld;

namespace Tango.Tests.Checkpoints;

/// <summary>Programs that only write.</summary>
public class UnplayedWritesTests
{
    /// <summary>It played nothing, so that no checkpoint was ever due.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_host_that_only_writes_makes_checkpoints(bool inTransactions) => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var options = new TangoOptions { Checkpoints = new CheckpointPolicy { Updates = 1000 } };
        var runtime = world.NewRuntime(options);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        for (var i = 0; i < UnplayedWrites.MaxAhead; i++)
        {
            await using var transaction = inTransactions ? runtime.BeginTx() : null;
            await accounts.SetAsync("a", i);
            if (transaction is not null) await transaction.EndTxAsync();
        }

        await Task.Delay(TimeSpan.FromSeconds(1), time);
        Assert.NotNull(await world.LoadAsync(Member(256)));
    });

    [Fact]
    public void It_plays_once_for_so_many_records_of_few_entries() => SeededContext.Run(2, async time =>
    {
        var checks = 0;
        await using var world = new World(new InMemoryLogOptions
        {
            BeforeCheck = _ =>
            {
                checks++;
                return ValueTask.CompletedTask;
            },
        }, time);
        var accounts =
            await world.NewRuntime(new TangoOptions { Checkpoints = null })
                .OpenAsync<Accounts>("accounts", OpenMode.Create);
        checks = 0;
        for (var round = 0; round < 3; round++)
        {
            await Task.WhenAll(Enumerable.Range(0, UnplayedWrites.MaxAhead)
                .Select(i => accounts.SetAsync("a", i).AsTask()));
            await Task.Delay(TimeSpan.FromSeconds(1), time);
        }

        Assert.True(await world.TailAsync() < new LogPosition(200), "entries are shared");
        // Above, and that of the tail.
        Assert.Equal(3 + 1, checks);
    });

    [Fact]
    public void One_that_hosts_nothing_plays_nothing() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime();
        var accounts = await runtime.OpenWriteOnlyAsync<Accounts>("accounts", OpenMode.Create);
        var played = runtime.PlayedTo;
        for (var i = 0; i < UnplayedWrites.MaxAhead; i++) await accounts.SetAsync("a", i);
        await Task.Delay(TimeSpan.FromSeconds(1), time);
        Assert.Equal(played, runtime.PlayedTo);
    });

    [Fact]
    public void A_failure_is_tried_again_after_as_many_more() => SeededContext.Run(4, async time =>
    {
        var fails = false;
        await using var world = new World(new InMemoryLogOptions
        {
            BeforeCheck = _ => fails ? throw new IOException("For a while") : ValueTask.CompletedTask,
        }, time);
        var runtime = world.NewRuntime(new TangoOptions { Checkpoints = null });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        fails = true;
        await WriteAsync();
        var played = runtime.PlayedTo;
        fails = false;
        await WriteAsync();
        Assert.True(played + UnplayedWrites.MaxAhead < runtime.PlayedTo);

        async Task WriteAsync()
        {
            for (var i = 0; i < UnplayedWrites.MaxAhead; i++) await accounts.SetAsync("a", i);
            await Task.Delay(TimeSpan.FromSeconds(1), time);
        }
    });
}
