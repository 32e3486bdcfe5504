using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Transfers between accounts. The sum is the same in every state that a transaction reads.</summary>
internal sealed class BankWorkload(ClusterMonitor monitor, TxRecorder recorder, RecordedCalls calls) : ITangoWorkload
{
    private const int OpeningBalance = 100;

    private static readonly string[] s_accounts = [.. Enumerable.Range(0, 4).Select(i => $"{TangoClient.Bank}/a{i}")];

    public static IReadOnlyList<string> Accounts => s_accounts;

    public IEnumerable<WorkloadAction<TangoClient>> Actions =>
    [
        new(15, TransferAsync, writes: true),
        new(6, ReadAllAsync),
    ];

    public Task CheckAsync(TangoClient client) => ReadAllAsync(client, null);

    /// <summary>Moves money with the retry helper: each attempt is a transaction of its own, and only the last one may
    /// commit.</summary>
    private async Task TransferAsync(TangoClient client, SimRandom random)
    {
        string[] accounts = [.. s_accounts];
        random.Shuffle(accounts);
        (string payer, string payee) = (accounts[0], accounts[1]);
        int amount = random.Between(1, 20);
        TxAttempt? last = null;
        TxOutcome outcome = await client.Runtime.RunTransactionAsync(async tx =>
        {
            last?.Abandoned();
            TxAttempt op = last = new TxAttempt(recorder, client.Number);
            string? from = await client.ReadAsync(payer);
            string? to = await client.ReadAsync(payee);
            op.Read(payer, from);
            op.Read(payee, to);
            await client.WriteAsync(payer, op.Write(payer, BalanceOf(from) - amount));
            await client.WriteAsync(payee, op.Write(payee, BalanceOf(to) + amount));
            op.Started(tx);
        });
        await last!.DecidedAsync(client.Runtime, outcome);
    }

    private async Task ReadAllAsync(TangoClient client, SimRandom? random)
    {
        (IReadOnlyList<string?> values, TxOutcome outcome) =
            await calls.ReadTogetherAsync(client, s_accounts, random);
        int sum = values.Sum(BalanceOf);
        // R17: even a transaction that aborts never sees a state that did not exist.
        if (sum != s_accounts.Length * OpeningBalance)
            monitor.Found(CheckerNames.Opacity, $"client {client.Number} saw {sum} in the bank ({outcome})");
    }

    private static int BalanceOf(string? value) => WrittenValue.BalanceOf(value, OpeningBalance);
}
