using Salus.Nbd.Limits;

namespace Salus.Nbd.Tests.Limits;

public sealed class ByteBudgetTests
{
    private readonly ByteBudget _budget = new(100);

    [Fact]
    public async Task Command_that_fits_waits_for_none()
    {
        await _budget.TakeAsync(60, CancellationToken.None);
        Assert.True(_budget.TakeAsync(40, CancellationToken.None).IsCompletedSuccessfully);
    }

    [Fact]
    public async Task Command_that_does_not_fit_waits_for_the_return()
    {
        await _budget.TakeAsync(60, CancellationToken.None);
        var waiting = _budget.TakeAsync(41, CancellationToken.None).AsTask();
        Assert.False(waiting.IsCompleted);
        _budget.Return(60);
        await waiting;
    }

    [Fact]
    public async Task Command_larger_than_the_budget_gets_all_of_the_budget()
    {
        Assert.True(_budget.TakeAsync(1000, CancellationToken.None).IsCompletedSuccessfully);
        var waiting = _budget.TakeAsync(1, CancellationToken.None).AsTask();
        Assert.False(waiting.IsCompleted);
        _budget.Return(1000);
        await waiting;
    }

    [Fact]
    public async Task Small_command_does_not_overtake_a_large_one_that_waits()
    {
        await _budget.TakeAsync(60, CancellationToken.None);
        var large = _budget.TakeAsync(80, CancellationToken.None).AsTask();
        var small = _budget.TakeAsync(1, CancellationToken.None).AsTask();
        Assert.False(small.IsCompleted);
        _budget.Return(60);
        await large;
        await small;
    }

    [Fact]
    public async Task Command_that_is_given_up_holds_up_no_other()
    {
        await _budget.TakeAsync(60, CancellationToken.None);
        using var end = new CancellationTokenSource();
        var given = _budget.TakeAsync(80, end.Token).AsTask();
        var next = _budget.TakeAsync(40, CancellationToken.None).AsTask();
        await end.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => given);
        await next;
        _budget.Return(100);
        Assert.True(_budget.TakeAsync(100, CancellationToken.None).IsCompletedSuccessfully);
    }
}
