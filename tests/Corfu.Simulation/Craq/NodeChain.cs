using Corfu.Protocol;
using Craq;
using Craq.Chains;
using Craq.Protocol;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>The durable records of one chain at one node.</summary>
internal sealed class NodeChain
{
    private readonly SortedSet<ObjectVersion> _records = [];

    // Records that a Drop has made void.
    private readonly HashSet<ObjectVersion> _dropped = [];

    // Dropped records that the node held as a full member.
    private readonly HashSet<ObjectVersion> _left = [];

    // The records above are held one by one. At or above Base; a learner may lack what is below.
    private ObjectVersion _start;

    /// <summary>The newest config in the log.</summary>
    public Epoch Installed { get; private set; }

    /// <summary>Everything up to it is held, as records or as clean objects.</summary>
    public ObjectVersion Base { get; private set; }

    /// <summary>The newest record.</summary>
    public ObjectVersion Last => _records.Count == 0 ? _start : ObjectVersion.Max(_start, _records.Max);

    /// <summary>The newest record of an epoch or an earlier one: what a member has of later ones may follow other
    /// records.</summary>
    public ObjectVersion LastOf(Epoch epoch)
    {
        var end = new ObjectVersion(ObjectVersion.First(epoch).Value | ObjectVersion.MaxCounter);
        return _records.Count == 0 || _records.Min > end
            ? Base
            : ObjectVersion.Max(Base, _records.GetViewBetween(_records.Min, end).Max);
    }

    /// <summary>The newest record of an epoch that the node held as a full member and has dropped since. It had passed
    /// it on: the epoch's tail may commit it later.</summary>
    public ObjectVersion LeftOf(Epoch epoch) =>
        _left.Where(version => version.Epoch == epoch).DefaultIfEmpty(ObjectVersion.None).Max();

    public ObjectVersion Mark { get; private set; }

    /// <summary>The node's part in the chain as records say it; a config may have made it full since.</summary>
    public ChainStanding Standing { get; private set; }

    /// <summary>The node learns the chain: its objects count for nothing until it is full.</summary>
    public bool IsLearning => Standing == ChainStanding.Learning;

    public bool Holds(ObjectVersion version) => _records.Contains(version);

    /// <summary>A record was durable here, though it may have been dropped since: it may still be under way to
    /// others. A state that ends with the record stands for it.</summary>
    public bool HasHeld(ObjectVersion version) =>
        Last >= version || _dropped.Contains(version) || _left.Contains(version);

    /// <summary>Takes over what the node had dropped before a restart: its log may have forgotten the Drop.</summary>
    public void Recall(NodeChain before) => _left.UnionWith(before._left);

    /// <returns>The part of a former chain that this one lacks; null: nothing.</returns>
    public string? Lacks(NodeChain before)
    {
        if (Installed < before.Installed) return $"the config of {before.Installed}";
        if (Mark < before.Mark) return $"the mark {before.Mark}";
        foreach (var version in before._records)
        {
            // Records that were clean may be gone from the log, where their objects are not.
            if (version > before.Mark && version > _start && !_records.Contains(version)
                && !_dropped.Contains(version)) return $"the record {version}";
        }

        return Last >= before.Last || _dropped.Count > 0
            ? null
            : $"the records from {Last} to {before.Last}";
    }

    public void Note(in StoreRecord record)
    {
        var version = record.Version;
        switch (record.Kind)
        {
            case StoreRecordKind.Chain:
                _records.Add(version);
                break;
            case StoreRecordKind.Install:
                // The store's record names the epoch bare.
                Install(new Epoch(version.Value));
                break;
            case StoreRecordKind.Mark:
                Mark = ObjectVersion.Max(Mark, version);
                break;
            case StoreRecordKind.Full:
                Standing = ChainStanding.Complete;
                Base = ObjectVersion.Max(Base, version);
                _start = ObjectVersion.Max(_start, version);
                break;
            case StoreRecordKind.Drop:
                ObjectVersion[] above = [.. _records.Where(record => record > version)];
                if (!IsLearning) _left.UnionWith(above);
                Standing = ChainStanding.Learning;
                _dropped.UnionWith(above);
                _records.ExceptWith(_dropped);
                break;
            case StoreRecordKind.ChainState:
                Restore(record.Body.ToArray());
                break;
        }
    }

    /// <summary>The node's part in the chain as a state says it.</summary>
    public static ChainStanding StandingOf(ReadOnlyMemory<byte> state) => (ChainStanding)state.Span[0];

    private void Install(Epoch epoch) => Installed = epoch > Installed ? epoch : Installed;

    // The cleaner's, a checkpoint's, or a learner's at its beginning: stands for all records up to its mark.
    private void Restore(ReadOnlyMemory<byte> body)
    {
        var r = new WireReader(body);
        Standing = (ChainStanding)r.Byte();
        var mark = new ObjectVersion(r.Int64());
        _ = r.Int64();
        if (r.Bool()) Install(r.View().Config.Epoch);
        _start = ObjectVersion.Max(_start, mark);
        Mark = ObjectVersion.Max(Mark, mark);
        if (!IsLearning) Base = ObjectVersion.Max(Base, mark);
    }
}
