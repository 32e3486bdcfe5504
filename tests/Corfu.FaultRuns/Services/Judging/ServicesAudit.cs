using Corfu.FaultRuns.Clients;
using Corfu.FaultRuns.Services.Clients;
using Corfu.Store;
using Corfu.StateMachines;
using Tango;
using Tango.Ledgers;

namespace Corfu.FaultRuns.Services.Judging;

/// <summary>All that a fresh process finds when the others have ended.</summary>
/// <param name="Changes">Changes of each revision of the store: by key, the write that its value names.</param>
/// <param name="Ledgers">The values of each ledger, by its entries.</param>
/// <param name="Users">Counts of the machine, by user.</param>
public sealed record ServicesAudit(
    IReadOnlyDictionary<long, IReadOnlyDictionary<string, string>> Changes,
    IReadOnlyDictionary<long, IReadOnlyList<string>> Ledgers,
    IReadOnlyDictionary<string, UserCount> Users)
{
    public static async Task<ServicesAudit> TakeAsync(string connection, CancellationToken stop)
    {
        await using var client = await WorkClient.ConnectAsync(connection);
        await using var runtime = new TangoRuntime(client, ServicesClient.Tango);
        return new ServicesAudit(
            await ChangesAsync(client, runtime, stop), await LedgersAsync(client, runtime, stop),
            await UsersAsync(client, stop));
    }

    private static async Task<IReadOnlyDictionary<long, IReadOnlyDictionary<string, string>>> ChangesAsync(
        ICorfuLog log, TangoRuntime runtime, CancellationToken stop)
    {
        await using var store = await CorfuStore.OpenAsync(
            log, runtime, ServicesClient.StoreName, cancellationToken: stop);
        var last = (await store.RangeAsync(StoreRange.All, cancellationToken: stop)).Revision;
        var changes = new Dictionary<long, IReadOnlyDictionary<string, string>>();
        if (last < 2) return changes;
        await foreach (var told in store.WatchAsync(StoreRange.All, 2, cancellationToken: stop))
        {
            changes.Add(told.Revision, told.Changes.ToDictionary(
                static change => $"{change.Key}", static change => StoreWorker.IdIn(change.Entry.Value)));
            if (told.Revision >= last) break;
        }

        return changes;
    }

    private static async Task<IReadOnlyDictionary<long, IReadOnlyList<string>>> LedgersAsync(
        ICorfuLog log, TangoRuntime runtime, CancellationToken stop)
    {
        await using var store = await LedgerStore.OpenAsync(
            log, runtime, ServicesClient.LedgersName, cancellationToken: stop);
        var ledgers = new Dictionary<long, IReadOnlyList<string>>();
        await foreach (var metadata in store.ListAsync(cancellationToken: stop))
        {
            var reader = await store.RecoverAsync(metadata.Id, cancellationToken: stop);
            var values = new List<string>();
            if (reader.LastConfirmed >= 0)
            {
                await foreach (var entry in reader.ReadAsync(0, reader.LastConfirmed, stop))
                    values.Add(LedgerWorker.ValueIn(entry));
            }

            ledgers.Add(metadata.Id.Value, values);
        }

        return ledgers;
    }

    private static async Task<IReadOnlyDictionary<string, UserCount>> UsersAsync(
        ICorfuLog log, CancellationToken stop)
    {
        await using var replica = await Replica<CountMachine>.OpenAsync(log, ServicesClient.MachineName,
            static () => new CountMachine(), ServicesClient.Machine, stop);
        return await replica.QueryAsync(
            static machine => new Dictionary<string, UserCount>(machine.Users), cancellationToken: stop);
    }
}
