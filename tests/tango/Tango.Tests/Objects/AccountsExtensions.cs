namespace Tango.Tests;

internal static class AccountsExtensions
{
    /// <summary>Sets several accounts in one transaction of another runtime.</summary>
    public static async Task RunAsync(this Accounts accounts, TangoRuntime runtime,
        params (string Account, long Amount)[] updates)
    {
        var own = await runtime.OpenAsync<Accounts>(accounts.ObjectName, OpenMode.Create);
        var outcome = await runtime.RunTransactionAsync(async _ =>
        {
            foreach (var (account, amount) in updates) await own.SetAsync(account, amount);
        });
        Assert.True(outcome.IsCommitted);
    }
}
