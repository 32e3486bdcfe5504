using Tango;
using Tango.Runtime;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Objects whose deletion was acknowledged: no handle may read them any more.</summary>
internal sealed class DeletedObjects
{
    private readonly HashSet<ObjectId> _deleted = [];

    public static ObjectId IdOf(TangoObject handle) => ((ObjectHost)handle.Host).Entry.Id;

    /// <summary>To the model each object of a name is a key of its own.</summary>
    public static string KeyOf(TangoObject handle) => TxHistory.KeyOfTemporary(IdOf(handle).Value);

    public void Add(params IEnumerable<ObjectId> ids) => _deleted.UnionWith(ids);

    public bool Has(TangoObject handle) => _deleted.Contains(IdOf(handle));

    public IReadOnlySet<ObjectId> Now() => _deleted.ToHashSet();
}
