namespace Craq.Storage;

// R3: a checkpoint is begun under the node's lock, ended without it, and published when the log is durable up to all
// that the index may reflect by then.
internal sealed partial class NodeStore
{
    // Under the node's lock.
    private long _records;
    private long _recordsAtCheckpoint;
    private bool _checkpointAsked;

    // The newest checkpoint's. Rises; only the recovery and the cleaner's worker use it.
    private long _checkpointNumber;

    public bool IsCheckpointDue =>
        _records - _recordsAtCheckpoint >= Math.Max(_options.CheckpointRecords, _objects / 8);

    /// <summary>Checkpoints that were published in this run.</summary>
    public long Checkpoints { get; private set; }

    /// <summary>A failure costs the next start time, and nothing else.</summary>
    public async ValueTask TryCheckpointAsync(INodeChains chains, Func<bool> isStopping)
    {
        try
        {
            if (chains.Locked(() => BeginCheckpoint(chains)) is not { } begun) return;
            await _index.EndCheckpointAsync(begun.Header.Map);
            // The index may reflect marks that the log does not have yet.
            foreach (var chain in chains.Locked(() => chains.Held.ToArray()))
            {
                while (!chains.Locked(() => chains.TryLogMark(chain)))
                {
                    if (isStopping()) return;
                    await WaitDurableAsync();
                }
            }

            begun.Header.Needs = await WaitDurableAsync();
            begun.Header.Number = ++_checkpointNumber;
            await begun.PublishAsync(_maps);
            Checkpoints++;
        }
        catch (Exception error) when (error is IOException || (error is StoreFailedException && _failure is null))
        {
            // The next start reads the log instead.
        }
    }

    // Null: there is no room at the moment.
    private NodeCheckpoint? BeginCheckpoint(INodeChains chains)
    {
        // Records that the index reflects as void must be void for a recovery too.
        if (!TryAppendOwed(chains)) return null;
        var tail = new LogTail(_log.AppendedUntil, _lastRecord, _incarnation, _records);
        _recordsAtCheckpoint = _records;
        _checkpointAsked = false;
        SavedChain[] saved =
        [
            .. _chains.Select(c =>
            {
                var snapshot = chains.Snapshot(c.Key);
                return new SavedChain(c.Key, c.Value.Copy(), snapshot?.Mark ?? default, snapshot?.State,
                    snapshot?.Needed ?? []);
            }),
        ];
        var header = new MapHeader(_logId, _index.BeginCheckpoint(), tail, _lastCheck, _firstKept);
        return new NodeCheckpoint(header, _lastHolding, saved, [.. _segments.Select(s => s with { })]);
    }
}
