using Corfu.Client;
using Tango;
using Tango.Ledgers;

namespace Corfu.Load;

/// <summary>Appends to a ledger of this process, whose callers share its one writer.</summary>
internal sealed class LedgerWorkload : IWorkload
{
    private readonly LedgerStore _store;
    private readonly LedgerWriter _writer;

    private LedgerWorkload(LedgerStore store, LedgerWriter writer) => (_store, _writer) = (store, writer);

    /// <param name="client">Stays the caller's, as the runtime over it.</param>
    public static async Task<LedgerWorkload> OpenAsync(CorfuClient client, TangoRuntime runtime)
    {
        var store = await LedgerStore.OpenAsync(client, runtime, "load/ledgers");
        return new LedgerWorkload(store, await store.CreateAsync());
    }

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var payload = new byte[size];
        return async _ => await _writer.AppendAsync(payload);
    }

    public async ValueTask DisposeAsync()
    {
        await _writer.DisposeAsync();
        await _store.DisposeAsync();
    }
}
