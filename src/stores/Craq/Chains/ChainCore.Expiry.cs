using Craq.Storage;

namespace Craq.Chains;

internal sealed partial class ChainCore
{
    /// <summary>Deletes objects at the head of an open epoch: those that are expired by its clock, in exactly the
    /// versions that are named (C21). Others stay, and so do those that a transaction holds.</summary>
    /// <returns>False: this node takes no writes of the chain, or has no room at the moment.</returns>
    public bool Expire(IReadOnlyList<(ObjectKey Key, ObjectVersion Version)> expired, ChainEffects effects)
    {
        if (RefusesAtHead(Epoch) is not null) return false;
        ImmutableArray<ObjectWrite> writes =
        [
            .. expired.Where(one => IsExpired(one.Key, one.Version, effects.Now.Wall)).Select(one => one.Key).Distinct()
                .Select(static key => new ObjectWrite(key, 0, 0, null)),
        ];
        if (writes.IsEmpty) return true;
        var bytes = RecordOverhead + BytesOf(writes);
        if (_last.IsLast || !_budget.HasRoom(bytes) || _store.Admit(bytes, StoreUse.Deletes) != Status.Ok) return false;
        AppendNext(new ChainRecord(Id, ChainRecordKind.Write, ObjectVersion.None, _last, [], writes), effects);
        CraqTelemetry.Expired.Add(writes.Length);
        return true;
    }

    private bool IsExpired(ObjectKey key, ObjectVersion version, long wall)
    {
        if (_locks.Holds(key) || !TryNewest(key, out var state)) return false;
        if (Planted.Is("expiry-deletes-any")) return state.IsFound;
        return state.Version == version && state.IsExpired(wall);
    }
}
