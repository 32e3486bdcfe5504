using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Chains;
using Craq.Protocol;
using Craq.Storage;
using RecordCodec = Craq.Protocol.RecordCodec;

namespace Corfu.Simulation.Craq;

/// <summary>A chain as it is, from what its members' disks hold: no member knows as much.</summary>
internal sealed class ChainTruth(World world, ChainId id)
{
    private readonly SortedDictionary<ObjectVersion, Record> _records = [];
    private readonly SortedDictionary<Epoch, ChainConfig> _configs = [];
    // With the step in which each opened.
    private readonly SortedDictionary<Epoch, long> _open = [];
    private readonly Dictionary<Guid, IReadOnlyList<ChainId>> _locked = [];
    private readonly HashSet<ObjectVersion> _committed = [];

    public ChainId Id => id;

    /// <summary>The newest version that is durable at all full members of an open epoch. Never falls.</summary>
    public ObjectVersion Committed { get; private set; }

    /// <summary>When each committed version was found to be so, in order of the versions.</summary>
    public List<(ObjectVersion Version, long At)> Commits { get; } = [];

    public ChainConfig? ConfigOf(Epoch epoch) => _configs.GetValueOrDefault(epoch);

    public ChainConfig? Newest => _configs.Count == 0 ? null : _configs.Values.Last();

    /// <summary>Whether Begin of the epoch is durable at all its full members.</summary>
    public bool IsOpen(Epoch epoch) => _open.ContainsKey(epoch);

    /// <summary>The newest epoch that was open before a step.</summary>
    public Epoch OpenBefore(long step) => _open.LastOrDefault(open => open.Value < step).Key;

    /// <summary>Whether the node was a full member of an epoch that has opened: it holds that epoch's Begin.</summary>
    public bool HasOpenedWith(NodeId node) => _open.Keys.Any(epoch => _configs[epoch].IndexOf(node) >= 0);

    /// <returns>The fault of the config; null: nothing.</returns>
    public string? Learn(ChainConfig config)
    {
        if (_configs.TryGetValue(config.Epoch, out var known))
            return known.Members.SequenceEqual(config.Members)
                ? null
                : $"two configs of one epoch: {known} and {config}";
        _configs.Add(config.Epoch, config);
        return null;
    }

    /// <returns>The fault of the record; null: nothing.</returns>
    public string? Learn(ReadOnlyMemory<byte> body)
    {
        var record = RecordCodec.Decode(body.ToArray());
        var hash = new TraceHash();
        hash.Add(body.Span);
        if (_records.TryGetValue(record.Version, out var known))
            return known.Digest == hash.Value
                ? null
                : $"two contents of {record.Version}: {known.Content} and {record}";
        _records.Add(record.Version, new Record(record, hash.Value));
        if (record.Kind == ChainRecordKind.Lock)
            _locked[record.Transaction] = [.. HeldLock.Of(record, body.ToArray()).Parts.Select(part => part.Chain)];
        return null;
    }

    /// <summary>The chains of a transaction, as its Lock in this chain names them.</summary>
    public IReadOnlyList<ChainId> PartsOf(Guid transaction) => _locked.GetValueOrDefault(transaction, []);

    public Record? Find(ObjectVersion version) => _records.GetValueOrDefault(version);

    /// <summary>Takes note that a member's disk holds more.</summary>
    /// <param name="logs">The chain on the disks that a node has or had.</param>
    /// <returns>The fault that was found; null: nothing.</returns>
    public string? Advance(Func<NodeId, IEnumerable<NodeChain>> logs)
    {
        foreach (var (epoch, config) in _configs)
        {
            var begin = ObjectVersion.First(epoch);
            var least = new ObjectVersion(long.MaxValue);
            var count = 0;
            foreach (var member in config.Members)
            {
                var held = ObjectVersion.None;
                foreach (var log in logs(member.Node))
                {
                    if (!log.IsLearning && Has(log, begin)) held = ObjectVersion.Max(held, log.LastOf(epoch));
                    held = ObjectVersion.Max(held, log.LeftOf(epoch));
                }

                if (held.IsNone) break;
                least = ObjectVersion.Min(least, held);
                count++;
            }

            if (count < config.Members.Length) continue;
            if (_open.TryAdd(epoch, world.Steps) && Missing(epoch, begin) is { } missing) return missing;
            if (least <= Committed) continue;
            // A record that its head alone had when the next epoch began was never committed.
            foreach (var version in Path(least))
            {
                if (version > Committed && _committed.Add(version)) Commits.Add((version, world.Now));
            }

            Committed = least;
        }

        return null;
    }

    /// <summary>The committed objects as of a version.</summary>
    public Dictionary<ObjectKey, (ObjectVersion Version, ReadOnlyMemory<byte> Value)> ObjectsOf(ObjectVersion asOf)
    {
        Dictionary<ObjectKey, (ObjectVersion Version, ReadOnlyMemory<byte> Value)> objects = [];
        foreach (var version in Path(ObjectVersion.Min(asOf, Committed)))
        {
            var content = _records[version].Content;
            if (content.Kind == ChainRecordKind.Clear) objects.Clear();
            if (content.Kind != ChainRecordKind.Write) continue;
            foreach (var write in content.Writes)
            {
                if (write.Value is { } value) objects[write.Key] = (version, value);
                else objects.Remove(write.Key);
            }
        }

        return objects;
    }

    /// <summary>The records up to a version, as they follow each other: what was lost on the way is not among
    /// them.</summary>
    public List<ObjectVersion> Path(ObjectVersion until)
    {
        List<ObjectVersion> path = [];
        for (var at = until; !at.IsNone && _records.TryGetValue(at, out var record); at = record.Content.Previous)
            path.Add(at);
        path.Reverse();
        return path;
    }

    // A clean state stands for the records that led to it: a record that was lost on the way is none.
    private bool Has(NodeChain log, ObjectVersion version) =>
        log.Holds(version) || (log.Base >= version && _committed.Contains(version));

    // Nothing committed may be missing behind a Begin (C9). The last member of an epoch may take its Begin when a later
    // epoch has committed records: they stand behind that Begin.
    private string? Missing(Epoch epoch, ObjectVersion begin)
    {
        if (begin < Committed)
            return Path(Committed).Contains(begin)
                ? null
                : $"{epoch} of {id} opens though {Committed} was committed without {begin}";
        var at = begin;
        while (at > Committed && _records.TryGetValue(at, out var record)) at = record.Content.Previous;
        return at == Committed || at.IsNone && Committed.IsNone
            ? null
            : $"{epoch} of {id} begins behind {at} and lacks {Committed}, which was committed";
    }

    internal sealed record Record(ChainRecord Content, ulong Digest);
}
