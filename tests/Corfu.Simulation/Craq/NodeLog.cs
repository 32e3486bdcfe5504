using Corfu.Protocol;
using Craq;
using Craq.Chains;
using Craq.Protocol;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>A node's log as its disk has it, in all its lives: what was appended counts once it is durable.</summary>
internal sealed class NodeLog(CraqMonitor monitor, NodeId id, string name)
{
    private readonly Queue<StoreRecord> _pending = new();

    // Chains as they are durable for certain.
    private SortedDictionary<ChainId, NodeChain> _chains = [];

    // Chains on disks that are gone: what was committed with them was so.
    private readonly List<SortedDictionary<ChainId, NodeChain>> _lost = [];

    // Chains as a starting process reads them back: durable once it has started. Null: it runs.
    private SortedDictionary<ChainId, NodeChain>? _recovering;
    private readonly List<StoreRecord> _readBack = [];

    public NodeId Id => id;

    public string Name => name;

    /// <summary>The machine, which has another node's log after the loss of its disk.</summary>
    public string Machine => name.Split('.')[0];

    public NodeChain? Find(ChainId chain) => _chains.GetValueOrDefault(chain);

    /// <summary>The chain on the disk, and on those that are gone.</summary>
    public IEnumerable<NodeChain> All(ChainId chain)
    {
        foreach (var disk in _lost.Append(_chains))
        {
            if (disk.TryGetValue(chain, out var held)) yield return held;
        }
    }

    /// <summary>The disk was lost once: others may have records that were here.</summary>
    public bool IsErased { get; private set; }

    public void Erase()
    {
        _lost.Add(_chains);
        _chains = [];
        _pending.Clear();
        IsErased = true;
    }

    /// <summary>A new process reads the log back.</summary>
    public void Restart()
    {
        _pending.Clear();
        _readBack.Clear();
        _recovering = [];
    }

    public void Recovered(StoreRecord record)
    {
        monitor.ReadBack(this, record);
        if (record.Kind == StoreRecordKind.Chain) _readBack.Add(record with { Body = record.Body.ToArray() });
        if (record.Kind == StoreRecordKind.Forget) _recovering!.Remove(record.Chain);
        else ChainOf(record.Chain).Note(record);
    }

    /// <summary>All has been read back, and is durable now. A power cut before may have taken records that a killed
    /// process had left in the cache.</summary>
    public void Recovered()
    {
        foreach (var record in _readBack) monitor.Learn(id, record);
        _readBack.Clear();
        var before = _chains;
        _chains = _recovering!;
        _recovering = null;
        foreach (var (chain, held) in before)
        {
            if (ChainOf(chain).Lacks(held) is { } lost)
                monitor.Found(CheckerNames.NodeDurable, $"{name} has lost {lost} of {chain} in a restart");
            ChainOf(chain).Recall(held);
        }

        foreach (var chain in _chains.Keys) monitor.Advanced(chain);
    }

    public void Appended(in StoreRecord record)
    {
        var owned = record with { Body = record.Body.ToArray() };
        if (record.Kind == StoreRecordKind.Chain) Follows(record.Chain, owned.Body);
        if (record.Kind == StoreRecordKind.Install)
        {
            var r = new WireReader(owned.Body);
            monitor.Learn(r.View().Config);
        }

        if (record.Kind is StoreRecordKind.Mark or StoreRecordKind.ChainState)
            monitor.Marked(this, record.Chain, record.Version);
        if (IsOfLearner(owned)) monitor.Learning(Machine);
        _pending.Enqueue(owned);
    }

    public void Durable(long lsn)
    {
        SortedSet<ChainId> touched = [];
        while (_pending.TryPeek(out var next) && next.Place.Lsn <= lsn)
        {
            _pending.Dequeue();
            if (next.Kind == StoreRecordKind.Forget)
            {
                _chains.Remove(next.Chain);
                continue;
            }

            if (next.Kind == StoreRecordKind.Chain) monitor.Learn(id, next);
            var wasLearning = ChainOf(next.Chain).IsLearning;
            ChainOf(next.Chain).Note(next);
            if (!wasLearning && IsOfLearner(next)) BeginsToLearn(next);
            if (next.Kind == StoreRecordKind.Chain) monitor.IsPrefix(this, next.Chain, next.Version);
            touched.Add(next.Chain);
        }

        foreach (var chain in touched) monitor.Advanced(chain);
    }

    /// <summary>An object's clean version never falls: what is newer stays where a copy comes late (C11).</summary>
    public void Fell(ChainId chain, ObjectKey key, ObjectVersion before, ObjectVersion after) =>
        monitor.Found(CheckerNames.Learn, $"{name} has {after} of {key} in place of {before} in {chain}");

    // C10: a learner has dropped what is above the mark with which it begins.
    private void BeginsToLearn(in StoreRecord state)
    {
        var last = ChainOf(state.Chain).Last;
        if (state.Kind == StoreRecordKind.ChainState && last > state.Version)
            monitor.Found(CheckerNames.Learn,
                $"{name} begins to learn {state.Chain} at {state.Version} and keeps records up to {last}");
    }

    // C2: a record stands behind its previous one.
    private void Follows(ChainId chain, ReadOnlyMemory<byte> body)
    {
        var previous = RecordPrevious(body);
        var last = _pending
            .Where(pending => pending.Chain == chain
                && pending.Kind is StoreRecordKind.Chain or StoreRecordKind.ChainState)
            .Select(pending => pending.Version).DefaultIfEmpty(ChainOf(chain).Last).Max();
        if (previous > last)
            monitor.Found(CheckerNames.ChainLog,
                $"{name} takes a record behind {previous} of {chain}, and its log ends at {last}");
    }

    // The state of a learner is its first record; Full is its last one.
    private static bool IsOfLearner(in StoreRecord record) => record.Kind == StoreRecordKind.Full
        || (record.Kind == StoreRecordKind.ChainState
            && NodeChain.StandingOf(record.Body) == ChainStanding.Learning);

    private static ObjectVersion RecordPrevious(ReadOnlyMemory<byte> body) =>
        global::Craq.Protocol.RecordCodec.PreviousOf(body.Span);

    private NodeChain ChainOf(ChainId chain)
    {
        var chains = _recovering ?? _chains;
        if (!chains.TryGetValue(chain, out var known)) chains.Add(chain, known = new NodeChain());
        return known;
    }
}
