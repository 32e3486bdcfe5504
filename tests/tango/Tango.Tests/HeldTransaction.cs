namespace Tango.Tests;

/// <summary>A transaction in a flow of its own that has run its body and waits for the word to end: two of them can be
/// interleaved in one test.</summary>
internal sealed class HeldTransaction
{
    private readonly TaskCompletionSource _end = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _ran = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Task<TxOutcome> _outcome = null!;

    public static async Task<HeldTransaction> BeginAsync(TangoRuntime runtime, Func<Task> body)
    {
        var held = new HeldTransaction();
        held._outcome = held.RunAsync(runtime, body);
        await await Task.WhenAny(held._ran.Task, held._outcome);
        return held;
    }

    public Task<TxOutcome> EndTxAsync()
    {
        _end.SetResult();
        return _outcome;
    }

    private async Task<TxOutcome> RunAsync(TangoRuntime runtime, Func<Task> body)
    {
        await using var transaction = runtime.BeginTx();
        await body();
        _ran.SetResult();
        await _end.Task;
        return await transaction.EndTxAsync();
    }
}
