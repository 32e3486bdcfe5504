using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Transactions that read and write a few of all keys. In the end each key is read by a call of its
/// own.</summary>
internal sealed class TransactionWorkload(
    SeedPlan plan, ClusterMonitor monitor, TxRecorder recorder, RecordedCalls calls) : ITangoWorkload
{
    // Transactions that write all they can, where that is more than an entry holds.
    private const double ShareOfLarge = 0.3;

    public IEnumerable<WorkloadAction<TangoClient>> Actions =>
    [
        new(40, TransactAsync, writes: true),
        new(10, (client, random) =>
            calls.ReadTogetherAsync(client, PickKeys(client.ReadableKeys, random, random.Between(2, 4)), random)),
    ];

    public async Task CheckAsync(TangoClient client)
    {
        foreach (string key in client.ReadableKeys.Concat(BankWorkload.Accounts).Append(TangoClient.GateKey))
            await calls.ReadAsync(client, key);
    }

    private async Task TransactAsync(TangoClient client, SimRandom random)
    {
        string[] reads = PickKeys(client.ReadableKeys, random, random.Between(0, 3));
        string[] writes = PickKeys(client.WritableKeys, random,
            plan.Spills && random.Chance(ShareOfLarge) ? client.WritableKeys.Length : random.Between(1, 2));
        bool awaitsApplied = plan.Asks(client.Number) && random.Chance(0.5);
        var op = new TxAttempt(recorder, client.Number) { AwaitsApplied = awaitsApplied };
        await using TangoTransaction tx =
            client.Runtime.BeginTx(new TransactionOptions { AwaitApplied = awaitsApplied });
        foreach (string key in reads) op.Read(key, await client.ReadPatientlyAsync(key, random));
        if (random.Chance(0.3))
        {
            // R16: what the call returns is read, without a read of its own.
            int register = random.Next(client.Registers.Length);
            op.Read($"r{register}", await client.Registers[register].ExchangeAsync(op.Write($"r{register}", 0)));
        }

        // R23: first, so that what is refused has writes behind it that are not.
        if (random.Chance(0.3)) await PassWithinAsync(client, op);
        foreach (string key in writes) await client.WriteAsync(key, op.Write(key, 0));
        op.Started(tx);
        try
        {
            await op.DecidedAsync(client.Runtime, await tx.EndTxAsync());
        }
        catch (TangoSpillException)
        {
            monitor.Mark("spilling failed");
            op.Decided(TxDecision.Unknown);
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            op.Decided(TxDecision.NotWritten);
        }
    }

    /// <summary>A call that the snapshot refuses is told so at once, and is no part of the transaction.</summary>
    private async Task PassWithinAsync(TangoClient client, TxAttempt op)
    {
        long ticket = recorder.Ledger.NextPayload();
        Stumbles.Spare(ticket);
        op.Ask(TangoClient.GateKey);
        try
        {
            await client.Gate.PassAsync(ticket, WrittenValue.Of(ticket, 0));
            op.Write(TangoClient.GateKey, ticket, 0);
        }
        catch (TangoRejectedException)
        {
            monitor.Mark("call refused in a transaction");
        }
    }

    private static string[] PickKeys(string[] keys, SimRandom random, int count)
    {
        string[] shuffled = [.. keys];
        random.Shuffle(shuffled);
        return shuffled[..count];
    }
}
