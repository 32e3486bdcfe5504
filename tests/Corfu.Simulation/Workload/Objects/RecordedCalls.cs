using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Calls and reads that several workloads make, noted in the history.</summary>
internal sealed class RecordedCalls(TxRecorder to, DeletedObjects deleted)
{
    public Task ReadAsync(TangoClient client, string key) => client.FindAnnex(key) is { } annex
        ? ReadDeletableAsync(client, annex, () => annex.ReadAsync())
        : ReadAsync(client, key, () => client.ReadAsync(key));

    public async Task ReadDeletableAsync(TangoClient client, TangoObject handle, Func<ValueTask<string?>> read)
    {
        bool isDeleted = deleted.Has(handle);
        await ReadAsync(client, DeletedObjects.KeyOf(handle), read);
        if (isDeleted)
            to.Monitor.Found(CheckerNames.Deleted,
                $"client {client.Number} reads {DeletedObjects.IdOf(handle)}, which was deleted before, at "
                + $"{client.Runtime.Log.PlayedTo}");
    }

    public Task UpdateAsync(TangoClient client, string key, int mark = 0)
    {
        var op = new TxAttempt(to, client.Number);
        string value = op.Write(key, mark);
        return op.CallAsync(() => client.WriteAsync(key, value));
    }

    /// <summary>Reads in a transaction that writes nothing.</summary>
    /// <param name="random">Null: without pauses.</param>
    public async Task<(IReadOnlyList<string?> Values, TxOutcome Outcome)> ReadTogetherAsync(
        TangoClient client, IReadOnlyList<string> keys, SimRandom? random)
    {
        var op = new TxAttempt(to, client.Number);
        await using TangoTransaction tx = client.Runtime.BeginTx();
        List<string?> values = [];
        foreach (string key in keys)
        {
            string? value = await client.ReadPatientlyAsync(key, random);
            op.Read(key, value);
            values.Add(value);
        }

        op.Started(tx);
        TxOutcome outcome = await tx.EndTxAsync();
        op.Decided(outcome);
        return (values, outcome);
    }

    private async Task ReadAsync(TangoClient client, string key, Func<ValueTask<string?>> read)
    {
        var op = new TxAttempt(to, client.Number);
        op.Started();
        op.Read(key, await read());
        op.Decided(TxDecision.Committed);
    }
}
