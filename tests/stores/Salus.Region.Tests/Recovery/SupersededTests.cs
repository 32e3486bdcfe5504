using Salus.Region.Recovery;

namespace Salus.Region.Tests.Recovery;

/// <summary>A recovery that is given up at any of its messages, for a newer generation: nothing that was acknowledged
/// is lost by it, and nothing of it counts.</summary>
public sealed class SupersededTests
{
    private const int Records = 5;
    private const int MostCalls = 200;

    [Fact]
    public async Task Newer_generation_takes_over_at_every_message()
    {
        for (var call = 1; call <= MostCalls; call++)
        {
            if (!await TakeOverAsync(call, static _ => Task.CompletedTask)) return;
        }

        Assert.Fail("The recovery never ends by itself.");
    }

    [Fact]
    public async Task Primary_restarts_at_every_message()
    {
        for (var call = 1; call <= MostCalls; call++)
        {
            if (!await TakeOverAsync(call, static world => world.RestartAsync(1))) return;
        }

        Assert.Fail("The recovery never ends by itself.");
    }

    // False: the recovery has ended before that call.
    private static async Task<bool> TakeOverAsync(int last, Func<RecoveryWorld, Task> then)
    {
        await using var world = new RecoveryWorld();
        world.History.Create(1, 2, 3);
        for (var i = 0; i < Records; i++) world.History.Append(3);
        // The primary has a cut log: it copies.
        await world.StartAsync([1, 2, 3, 4, 5], static (store, record) => store == 1 && record.Head.Index > 2);
        using var over = new CancellationTokenSource();
        var calls = 0;
        world.Called = _ =>
        {
            if (Interlocked.Increment(ref calls) == last) over.Cancel();
        };
        await world.ReplaceAsync(1, 4, 2);
        try
        {
            await world.RecoverAsync(over.Token);
        }
        catch (OperationCanceledException)
        {
        }

        if (!over.IsCancellationRequested) return false;
        await then(world);
        await world.ReplaceAsync(5, 1, 4);
        foreach (var region in await world.RecoverAsync())
        {
            Assert.Equal(Records + 1, region.Index);
            Assert.Equal(Records, region.Above.Length);
        }

        return true;
    }
}
