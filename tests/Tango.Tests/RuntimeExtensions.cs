namespace Tango.Tests;

internal static class RuntimeExtensions
{
    /// <summary>A read and a write of one account, not yet ended and not flowing with the caller's code.</summary>
    public static async Task<TangoTransaction> BeginTransferAsync(this TangoRuntime runtime, Accounts accounts,
        string account)
    {
        var transaction = runtime.BeginTx();
        await accounts.SetAsync(account, await accounts.BalanceAsync(account) + 1);
        return transaction;
    }

    public static async ValueTask<TxOutcome> TransferAsync(this TangoRuntime runtime, Accounts accounts, string account,
        long amount)
    {
        await using var transaction = runtime.BeginTx();
        await accounts.SetAsync(account, await accounts.BalanceAsync(account) + amount);
        return await transaction.EndTxAsync();
    }
}
