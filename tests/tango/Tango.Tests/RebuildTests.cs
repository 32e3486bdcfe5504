namespace Tango.Tests;

/// <summary>R23: an object whose Apply failed is played anew once; an error of the process ends its runtime.</summary>
public class RebuildTests
{
    [Fact]
    public void An_object_whose_apply_failed_once_is_played_anew() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var faults = new Queue<Exception>([new TimeoutException("once")]);
        Fragile.Fault = value => value == 5 && faults.TryDequeue(out var fault) ? fault : null;
        var runtime = world.NewRuntime();
        var fragile = await runtime.OpenAsync<Fragile>("fragile", OpenMode.Create);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await fragile.PutAsync(1);
        await fragile.PutAsync(5);
        await accounts.SetAsync("x", 2);
        Assert.Equal(6, await fragile.SumAsync());
        Assert.Empty(faults);
        await fragile.PutAsync(10);
        Assert.Equal(16, await fragile.SumAsync());
        Assert.Equal(2, await accounts.BalanceAsync("x"));

        // Another record later on is another failure.
        faults.Enqueue(new TimeoutException("again"));
        await fragile.PutAsync(5);
        await runtime.SyncAsync();
        Assert.True((await runtime.RunTransactionAsync(async _ =>
            await accounts.SetAsync("x", await fragile.SumAsync()))).IsCommitted);
        Assert.Equal(21, await accounts.BalanceAsync("x"));
    });

    [Fact]
    public void Object_that_fails_again_at_the_record_stays_stopped_and_says_so() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var failed = 0;
        Fragile.Fault = value => value == 5 && ++failed > 0 ? new TimeoutException("always") : null;
        var fragile = await world.NewRuntime().OpenAsync<Fragile>("fragile", OpenMode.Create);
        await fragile.PutAsync(5);
        await fragile.PutAsync(6);
        for (var i = 0; i < 3; i++)
        {
            var stopped = await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await fragile.SumAsync());
            Assert.True(stopped.WasRebuilt);
        }

        Assert.Equal(2, failed);
        Fragile.Fault = null;
    });

    [Fact]
    public void Members_that_have_not_stopped_stay_unchanged_by_a_rebuild() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var faults = new Queue<Exception>([new TimeoutException("once")]);
        Fragile.Fault = value => value == 5 && faults.TryDequeue(out var fault) ? fault : null;
        var runtime = world.NewRuntime();
        Fragile fragile = null!;
        Accounts accounts = null!;
        await runtime.OpenGroupAsync("group", group =>
            (fragile, accounts) = (group.Add<Fragile>("fragile"), group.Add<Accounts>("accounts")));
        await accounts.SetAsync("x", 1);
        await fragile.PutAsync(5);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
        var writing = accounts.AddAsync("x", 1).AsTask();
        Assert.Equal(5, await fragile.SumAsync());
        Assert.Equal(2, await writing);
        Assert.Equal(2, await accounts.BalanceAsync("x"));
    });

    /// <summary>Seed 334: an object stopped between the end of a transaction and its commit record; the transaction was
    /// told that no write had been refused, which others had refused.</summary>
    [Fact]
    public void Transaction_that_wrote_to_a_stopped_object_is_in_doubt_about_refusals() =>
        SeededContext.Run(5, async time =>
    {
        await using var world = new World(time: time);
        var faults = new Queue<Exception>([new TimeoutException("once")]);
        Fragile.Fault = value => value == 5 && faults.TryDequeue(out var fault) ? fault : null;
        var runtime = world.NewRuntime();
        var fragile = await runtime.OpenAsync<Fragile>("fragile", OpenMode.Create);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await using var transaction = runtime.BeginTx();
        await accounts.SetAsync("x", await accounts.BalanceAsync("x") + 1);
        await fragile.PutAsync(1);
        // By another runtime: it is not played here before the transaction's record.
        await (await world.NewRuntime().OpenWriteOnlyAsync<Fragile>("fragile", OpenMode.Create)).PutAsync(5);
        var outcome = Assert.IsType<TxOutcome.InDoubt>(await transaction.EndTxAsync());
        Assert.StartsWith("It committed, but 'fragile' has stopped", outcome.Message, StringComparison.Ordinal);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
        Assert.Equal(6, await fragile.SumAsync());
    });

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_error_of_the_process_ends_the_runtime_and_no_object(bool memory) =>
        SeededContext.Run(4, async time =>
    {
        await using var world = new World(time: time);
        var faults = new Queue<Exception>(
            [memory ? new OutOfMemoryException() : new InsufficientExecutionStackException()]);
        Fragile.Fault = value => value == 5 && faults.TryDequeue(out var fault) ? fault : null;
        var runtime = world.NewRuntime();
        var fragile = await runtime.OpenAsync<Fragile>("fragile", OpenMode.Create);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await accounts.SetAsync("x", 1);
        await fragile.PutAsync(5);
        await Assert.ThrowsAsync<TangoPlaybackFailedException>(async () => await accounts.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoPlaybackFailedException>(async () => await fragile.SumAsync());
        await Assert.ThrowsAsync<TangoPlaybackFailedException>(async () => await accounts.SetAsync("x", 2));
        await Assert.ThrowsAsync<TangoPlaybackFailedException>(async () => await accounts.AddAsync("x", 2));
        await Assert.ThrowsAsync<TangoPlaybackFailedException>(
            async () => await runtime.OpenAsync<Accounts>("another", OpenMode.Create));

        var next = world.NewRuntime();
        Assert.Equal(5, await (await next.OpenAsync<Fragile>("fragile", OpenMode.Create)).SumAsync());
        Assert.Equal(1, await (await next.OpenAsync<Accounts>("accounts", OpenMode.Create)).BalanceAsync("x"));
    });
}
