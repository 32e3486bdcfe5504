namespace Craq.Storage;

/// <summary>Gives disk space back while the node serves: copies what still counts of the oldest segment to the end of
/// the log, makes that durable, deletes the segment (C22). Then, from time to time, a checkpoint of the index. A single
/// worker takes small steps under the node's lock.</summary>
internal sealed class ObjectCleaner : IAsyncDisposable
{
    /// <summary>Copied between two waits for durability: appends share the disk fairly.</summary>
    private const int BytesPerWait = 256 << 10;

    private static readonly TimeSpan BusyPause = TimeSpan.FromMilliseconds(20);

    private readonly NodeStore _store;
    private readonly INodeChains _chains;
    private readonly TimeProvider _time;
    private readonly IWorker _worker;
    private volatile bool _stopping;

    public ObjectCleaner(NodeStore store, INodeChains chains, IWorkers workers, Action<Exception> failed)
    {
        _store = store;
        _chains = chains;
        _time = workers.Time;
        _worker = workers.Create("craq-cleaner", StepAsync, failed);
    }

    public void Start()
    {
        _worker.Kick();
        _worker.Start();
    }

    public void Kick() => _worker.Kick();

    public Task RunAsync() => _worker.RunAsync();

    public async ValueTask DisposeAsync()
    {
        _stopping = true;
        await _worker.DisposeAsync();
    }

    private async ValueTask StepAsync()
    {
        try
        {
            while (!_stopping && _chains.Locked(_store.NextToEmpty) is { } segment && await EmptyAsync(segment))
            {
            }

            if (!_stopping && !_store.IsFull && _chains.Locked(() => _store.IsCheckpointDue))
                await _store.TryCheckpointAsync(_chains, () => _stopping);
        }
        catch (Exception) when (_stopping)
        {
            // The node has ended, or has failed and reports that itself.
        }
    }

    private async ValueTask<bool> EmptyAsync(NodeSegment segment)
    {
        // Records that are read back must have been written.
        await _store.WaitDurableAsync();
        var copies = new List<PendingCopy>();
        var newest = new Dictionary<ChainId, ObjectVersion>();
        var bytes = 0;
        var isRead = await _store.ReadSegmentAsync(segment, async record =>
        {
            if (!await KeepAsync(record, copies)) return false;
            if (record.Kind == StoreRecordKind.Chain && !(copies.Count > 0 && copies[^1].IsWhole(record)))
                newest[record.Chain] = ObjectVersion.Max(newest.GetValueOrDefault(record.Chain), record.Version);
            // Invariant (C22): the log has the mark that made a copy's replacement clean before the copy goes. A power
            // cut would leave the older mark, and neither version.
            if (record.Kind == StoreRecordKind.Copy) newest.TryAdd(record.Chain, ObjectVersion.None);
            bytes += copies.Count == 0 ? 0 : record.Body.Length;
            if (bytes < BytesPerWait) return true;
            bytes = 0;
            await ApplyAsync(copies);
            return true;
        });
        if (_stopping) return false;
        if (!isRead)
        {
            throw new LogDamagedException(
                $"A record of the log's segment {segment.Index} is damaged. {NodeScanRules.Remedy}", segment.First);
        }

        await ApplyAsync(copies);
        foreach (var chain in _chains.Locked(() => _store.StatesIn(segment)))
            newest.TryAdd(chain, ObjectVersion.None);
        foreach (var (chain, version) in newest)
        {
            if (!await UntilAsync(() => _store.TryCarryState(chain, version, segment, _chains))) return false;
        }

        if (!await UntilAsync(() => _store.TryAppendOwed(_chains))
            || !await UntilAsync(() => _store.TryAppendFreed(segment))) return false;
        await _store.WaitDurableAsync();
        if (_stopping) return false;
        _store.DeleteBefore(_chains.Locked(_store.DropOldest));
        return true;
    }

    // False: the cleaner stops.
    private async ValueTask<bool> KeepAsync(StoreRecord record, List<PendingCopy> copies)
    {
        var decoded = record.Kind is StoreRecordKind.Chain or StoreRecordKind.Copy
            ? RecordCodec.Decode(record.Body, valuesChecked: false)
            : null;
        while (!_stopping)
        {
            ObjectHash waitsFor = default;
            switch (_chains.Locked(() => _store.Keep(record, decoded, _chains, copies, out waitsFor)))
            {
                case KeepOutcome.Waits:
                    await _store.LoadAsync(waitsFor);
                    break;
                case KeepOutcome.Busy:
                    // Copies made so far may be what fills the memory.
                    await _store.WaitDurableAsync();
                    await PauseAsync();
                    break;
                default:
                    return true;
            }
        }

        return false;
    }

    private async ValueTask ApplyAsync(List<PendingCopy> copies)
    {
        if (copies.Count == 0) return;
        await _store.WaitDurableAsync();
        _chains.Locked(() =>
        {
            _store.Apply(copies, _chains);
            return true;
        });
    }

    private async ValueTask<bool> UntilAsync(Func<bool> step)
    {
        while (!_chains.Locked(step))
        {
            if (_stopping) return false;
            await PauseAsync();
        }

        return true;
    }

    private Task PauseAsync() => Task.Delay(BusyPause, _time);
}
