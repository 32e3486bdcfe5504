namespace Tango.Tests;

internal static class RuntimeExtensions
{
    /// <summary>A read and a write of one account, not yet ended.</summary>
    public static Task<HeldTransaction> BeginTransferAsync(this TangoRuntime runtime, Accounts accounts,
        string account) => HeldTransaction.BeginAsync(runtime,
        async () => await accounts.SetAsync(account, await accounts.BalanceAsync(account) + 1));

    public static async ValueTask<TxOutcome> TransferAsync(this TangoRuntime runtime, Accounts accounts, string account,
        long amount)
    {
        await using var transaction = runtime.BeginTx();
        await accounts.SetAsync(account, await accounts.BalanceAsync(account) + amount);
        return await transaction.EndTxAsync();
    }
}
