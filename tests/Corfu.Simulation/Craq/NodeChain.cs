using Craq;
using Craq.Protocol;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>The durable records of one chain at one node.</summary>
internal sealed class NodeChain
{
    private readonly SortedSet<ObjectVersion> _records = [];

    /// <summary>The newest config in the log.</summary>
    public Epoch Installed { get; private set; }

    /// <summary>Everything up to it is held, as records or as the clean state that a learner took over.</summary>
    public ObjectVersion Base { get; private set; }

    /// <summary>The newest record.</summary>
    public ObjectVersion Last => _records.Count == 0 ? Base : ObjectVersion.Max(Base, _records.Max);

    /// <summary>The newest record of an epoch or an earlier one: what a member has of later ones may follow other
    /// records.</summary>
    public ObjectVersion LastOf(Epoch epoch)
    {
        var end = new ObjectVersion(ObjectVersion.First(epoch).Value | ObjectVersion.MaxCounter);
        return _records.Count == 0 || _records.Min > end
            ? Base
            : ObjectVersion.Max(Base, _records.GetViewBetween(_records.Min, end).Max);
    }

    public ObjectVersion Mark { get; private set; }

    /// <summary>Copies objects or drops them, and is not full yet.</summary>
    public bool IsLearning { get; private set; }

    /// <summary>The clean objects that the index has.</summary>
    public Dictionary<ObjectKey, ObjectVersion> Index { get; } = [];

    public bool Holds(ObjectVersion version) => _records.Contains(version);

    /// <returns>The part of a former chain that this one lacks; null: nothing.</returns>
    public string? Lacks(NodeChain before)
    {
        if (Installed < before.Installed) return $"the config of {before.Installed}";
        if (Last < before.Last) return $"the records from {Last} to {before.Last}";
        if (Mark < before.Mark) return $"the mark {before.Mark}";
        foreach (var version in before._records)
        {
            // Records that were clean may be gone from the log, where the objects are not.
            if (version > before.Mark && !_records.Contains(version)) return $"the record {version}";
        }

        return null;
    }

    public void Note(StoreRecordKind kind, ObjectVersion version, ReadOnlyMemory<byte> body)
    {
        switch (kind)
        {
            case StoreRecordKind.Chain:
                _records.Add(version);
                break;
            case StoreRecordKind.Install:
                // The store's record names the epoch bare.
                var epoch = new Epoch(version.Value);
                Installed = epoch > Installed ? epoch : Installed;
                break;
            case StoreRecordKind.Mark:
                Mark = ObjectVersion.Max(Mark, version);
                break;
            case StoreRecordKind.Copy or StoreRecordKind.Remove:
                IsLearning = true;
                break;
            case StoreRecordKind.Full:
                IsLearning = false;
                Base = ObjectVersion.Max(Base, version);
                break;
            case StoreRecordKind.Drop:
                IsLearning = true;
                _records.RemoveWhere(record => record > version);
                break;
            case StoreRecordKind.Forget:
                _records.Clear();
                (Base, Mark, Installed) = (default, default, default);
                Index.Clear();
                break;
        }
    }
}
