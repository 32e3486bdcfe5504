using Corfu.Protocol;
using Craq;
using Craq.Protocol;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>A node's log as its disk has it, in all its lives: what was appended counts once it is durable.</summary>
internal sealed class NodeLog(CraqMonitor monitor, NodeId id, string name)
{
    private readonly Queue<Pending> _pending = new();

    // Chains as they are durable for certain.
    private SortedDictionary<ChainId, NodeChain> _chains = [];

    // Chains as a starting process reads them back: durable once it has started. Null: it runs.
    private SortedDictionary<ChainId, NodeChain>? _recovering;
    private readonly List<StoreRecord> _readBack = [];

    public NodeId Id => id;

    public string Name => name;

    public NodeChain? Find(ChainId chain) => _chains.GetValueOrDefault(chain);

    /// <summary>A new process reads the log back.</summary>
    public void Restart()
    {
        _pending.Clear();
        _readBack.Clear();
        _recovering = [];
    }

    public void Recovered(StoreRecord record)
    {
        _readBack.Add(record);
        ChainOf(record.Chain).Note(record.Kind, record.Version, record.Body);
    }

    /// <summary>All has been read back, and is durable now. A power cut before may have taken records that a killed
    /// process had left in the cache.</summary>
    public void Recovered()
    {
        foreach (var record in _readBack) monitor.Learn(id, record.Kind, record.Chain, record.Body);
        _readBack.Clear();
        var before = _chains;
        _chains = _recovering!;
        _recovering = null;
        foreach (var (chain, held) in before)
        {
            if (ChainOf(chain).Lacks(held) is { } lost)
                monitor.Found(CheckerNames.NodeDurable, $"{name} has lost {lost} of {chain} in a restart");
        }

        foreach (var chain in _chains.Keys) monitor.Advanced(chain);
    }

    public void Appended(StoreRecordKind kind, ChainId chain, ObjectVersion version, ReadOnlySpan<byte> body, long lsn)
    {
        byte[] copy = [.. body];
        if (kind == StoreRecordKind.Chain) Follows(chain, copy);
        _pending.Enqueue(new Pending(kind, chain, version, copy, lsn));
    }

    public void Durable(long lsn)
    {
        SortedSet<ChainId> touched = [];
        while (_pending.TryPeek(out var next) && next.Lsn <= lsn)
        {
            _pending.Dequeue();
            monitor.Learn(id, next.Kind, next.Chain, next.Body);
            ChainOf(next.Chain).Note(next.Kind, next.Version, next.Body);
            if (next.Kind == StoreRecordKind.Chain) monitor.IsPrefix(this, next.Chain, next.Version);
            touched.Add(next.Chain);
        }

        foreach (var chain in touched) monitor.Advanced(chain);
    }

    public void Set(ChainId chain, ObjectKey key, ObjectVersion version)
    {
        var index = ChainOf(chain).Index;
        if (index.GetValueOrDefault(key) < version) index[key.ToOwned()] = version;
    }

    public void Remove(ChainId chain, ObjectKey key, ObjectVersion version)
    {
        var index = ChainOf(chain).Index;
        if (index.GetValueOrDefault(key) <= version) index.Remove(key);
    }

    public void Clear(ChainId chain, ObjectVersion below)
    {
        var index = ChainOf(chain).Index;
        foreach (var key in index.Keys.Where(key => index[key] < below).ToArray()) index.Remove(key);
    }

    // C2: a record stands behind its previous one.
    private void Follows(ChainId chain, ReadOnlyMemory<byte> body)
    {
        var previous = RecordPrevious(body);
        var last = _pending.Where(pending => pending.Chain == chain && pending.Kind == StoreRecordKind.Chain)
            .Select(pending => pending.Version).DefaultIfEmpty(ChainOf(chain).Last).Max();
        if (previous > last)
            monitor.Found(CheckerNames.ChainLog,
                $"{name} takes a record behind {previous} of {chain}, and its log ends at {last}");
    }

    private static ObjectVersion RecordPrevious(ReadOnlyMemory<byte> body) =>
        global::Craq.Protocol.RecordCodec.PreviousOf(body.Span);

    private NodeChain ChainOf(ChainId chain)
    {
        var chains = _recovering ?? _chains;
        if (!chains.TryGetValue(chain, out var known)) chains.Add(chain, known = new NodeChain());
        return known;
    }

    private sealed record Pending(
        StoreRecordKind Kind, ChainId Chain, ObjectVersion Version, ReadOnlyMemory<byte> Body, long Lsn);
}
