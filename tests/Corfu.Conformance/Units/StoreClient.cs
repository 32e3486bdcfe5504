using Corfu.Protocol;
using Corfu.Unit;

namespace Corfu.Conformance;

/// <summary>Opens a store the way a core does, and waits for durability the way a handler does.</summary>
internal sealed class StoreClient : IStoreObserver
{
    private readonly Lock _gate = new();
    private readonly List<(long Lsn, TaskCompletionSource Done)> _waiting = [];
    private long _last;

    private StoreClient(IPageStore store) => Store = store;

    public IPageStore Store { get; }

    /// <summary>Pages of the recovery, in log order.</summary>
    public List<(RecordPlace Place, byte[] Body)> Replayed { get; } = [];

    public List<LogRecord> Records { get; } = [];

    public Exception? Failure { get; private set; }

    public static async Task<StoreClient> OpenAsync(IPageStore store)
    {
        var client = new StoreClient(store);
        await store.RecoverAsync((in record, in place) =>
        {
            client.Records.Add(record with { Body = record.Body.ToArray() });
            if (record.Kind == RecordKind.Page) client.Replayed.Add((place, record.Body.ToArray()));
        });
        store.Observer = client;
        return client;
    }

    public RecordPlace Append(byte[] entry)
    {
        // A core refuses here; a test waits.
        while (Store.Admit(entry.Length, SpaceUse.Pages) == Status.Overloaded)
        {
            Store.Commit();
            Thread.Yield();
        }

        var position = EntryCodec.PeekPosition(entry);
        var place = Store.Append(new LogRecord(RecordKind.Page, position, entry, EntryCodec.HeaderLength(entry)));
        _last = place.Lsn;
        return place;
    }

    /// <summary>Ends when everything appended before is durable.</summary>
    public Task CommitAsync()
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            if (Store.DurableUntil >= _last) return Task.CompletedTask;
            _waiting.Add((_last, done));
        }

        Store.Commit();
        return done.Task;
    }

    public void OnDurable(long lsn)
    {
        lock (_gate)
        {
            foreach (var (_, done) in _waiting.Where(w => w.Lsn <= lsn)) done.TrySetResult();
            _waiting.RemoveAll(w => w.Lsn <= lsn);
        }
    }

    public void OnFailed(Exception error)
    {
        lock (_gate)
        {
            Failure = error;
            foreach (var (_, done) in _waiting) done.TrySetException(error);
            _waiting.Clear();
        }
    }
}
