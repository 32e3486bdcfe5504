using Tango.Testing;
using static Tango.Tests.Checkpoints.CheckpointWorld;

namespace Tango.Tests.Checkpoints;

/// <summary>Programs that only write.</summary>
public class WritingHostTests
{
    private const int Updates = 2000;

    private static readonly TangoOptions s_options = new() { Checkpoints = new CheckpointPolicy { Updates = 1000 } };

    /// <summary>Without playback nothing is counted, so that no checkpoint would be due.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_host_that_only_writes_makes_checkpoints(bool inTransactions) => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time) { IdlePlayback = TimeSpan.FromSeconds(1) };
        var runtime = world.NewRuntime(s_options);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        for (var i = 0; i < Updates; i++)
        {
            await using var transaction = inTransactions ? runtime.BeginTx() : null;
            await accounts.SetAsync("a", i);
            if (transaction is not null) await transaction.EndTxAsync();
        }

        await Task.Delay(TimeSpan.FromSeconds(3), time);
        Assert.NotNull(await world.LoadAsync(Member(256)));
    });

    [Fact]
    public void A_failure_is_tried_again() => SeededContext.Run(2, async time =>
    {
        var fails = false;
        await using var world = new World(new InMemoryLogOptions
        {
            BeforeCheck = _ => fails ? throw new IOException("For a while") : ValueTask.CompletedTask,
        }, time)
        { IdlePlayback = TimeSpan.FromSeconds(1) };
        var accounts = await world.NewRuntime(s_options).OpenAsync<Accounts>("accounts", OpenMode.Create);
        fails = true;
        for (var i = 0; i < Updates; i++) await accounts.SetAsync("a", i);
        await Task.Delay(TimeSpan.FromSeconds(3), time);
        fails = false;
        Assert.Null(await world.LoadAsync(Member(256)));
        await Task.Delay(TimeSpan.FromSeconds(3), time);
        Assert.NotNull(await world.LoadAsync(Member(256)));
    });
}
