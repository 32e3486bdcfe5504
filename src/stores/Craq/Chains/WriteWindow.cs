namespace Craq.Chains;

/// <summary>The recent writes of a chain by their ids, so that a repeated request is applied once (C13). A function of
/// the chain's records: every member has one, and a new head goes on with its own.</summary>
internal sealed class WriteWindow(NodeBudget budget, CraqNodeOptions options)
{
    // Bytes of an entry besides its result.
    private const int EntryBytes = 96;

    // Bytes of a refusal, which has no values.
    private const int RefusalBytes = 320;

    // Ids and refusals in any window, however little memory is left.
    private const int LeastIds = 64;

    private readonly Dictionary<WriteId, (ObjectVersion Version, ReadOnlyMemory<byte> Result)> _writes = [];
    private readonly Queue<(WriteId Id, ObjectVersion Version)> _order = new();

    // Requests that this head refused, in memory alone: a copy of one must not be applied, for its client may have
    // heard the refusal. A copy cannot outlive the head's process or its epoch.
    private readonly Dictionary<WriteId, Refusal> _refused = [];
    private readonly Queue<WriteId> _refusedOrder = new();
    private ObjectVersion _refusedFloor;

    /// <summary>Writes up to this version may have left the window. Never falls.</summary>
    public ObjectVersion Floor { get; private set; }

    public int Count => _writes.Count;

    /// <summary>The least <see cref="MutateRequest.NotBefore"/> for which an unknown id was never applied.</summary>
    public ObjectVersion Least => ObjectVersion.Max(Floor, _refusedFloor);

    public bool TryFind(WriteId id, out ObjectVersion version, out ReadOnlyMemory<byte> result)
    {
        var found = _writes.TryGetValue(id, out var write);
        (version, result) = write;
        return found && !Planted.Is("retry-applies-again");
    }

    /// <summary>The refusal of a request, and its cause.</summary>
    /// <param name="Depends">The newest version that the refusal depends on.</param>
    internal sealed record Refusal(MutateResponse Response, ObjectVersion Depends, ObjectVersion NotBefore);

    public Refusal? FindRefusal(WriteId id) => _refused.GetValueOrDefault(id);

    public void Add(WriteId id, ObjectVersion version, ReadOnlyMemory<byte> result)
    {
        if (id.IsNone || !_writes.TryAdd(id, (version, result.ToArray()))) return;
        _order.Enqueue((id, version));
        budget.WindowBytes += EntryBytes + result.Length;
        while (_order.Count > options.MaxWindowIds
            || (_order.Count > LeastIds && budget.WindowBytes > options.MaxWindowBytes)) RemoveOldest();
    }

    public void Refuse(WriteId id, Refusal refusal)
    {
        if (id.IsNone || !_refused.TryAdd(id, refusal)) return;
        _refusedOrder.Enqueue(id);
        budget.WindowBytes += RefusalBytes;
        while (_refusedOrder.Count > options.MaxWindowIds
            || (_refusedOrder.Count > LeastIds && budget.WindowBytes > options.MaxWindowBytes)) RemoveOldestRefusal();
    }

    /// <summary>Another epoch refuses the copies of requests by itself.</summary>
    public void ForgetRefusals()
    {
        budget.WindowBytes -= (long)RefusalBytes * _refused.Count;
        _refused.Clear();
        _refusedOrder.Clear();
        _refusedFloor = ObjectVersion.None;
    }

    /// <summary>Removes the writes above that version, which never count again (C10).</summary>
    public void Cut(ObjectVersion above)
    {
        var kept = _order.Where(entry => entry.Version <= above).ToArray();
        if (kept.Length == _order.Count) return;
        foreach (var (id, version) in _order)
        {
            if (version > above) Remove(id);
        }

        _order.Clear();
        foreach (var entry in kept) _order.Enqueue(entry);
    }

    /// <summary>The writes below a learner's base are unknown.</summary>
    public void Restart(ObjectVersion floor)
    {
        Cut(ObjectVersion.None);
        Floor = ObjectVersion.Max(Floor, floor);
    }

    /// <summary>A window that was taken over whole has the floor that it came with.</summary>
    public void Lower(ObjectVersion floor) => Floor = floor;

    /// <summary>All writes, oldest first.</summary>
    public IEnumerable<(WriteId Id, ObjectVersion Version, ReadOnlyMemory<byte> Result)> All() =>
        _order.Select(entry => (entry.Id, entry.Version, _writes[entry.Id].Result));

    private void RemoveOldest()
    {
        var (id, version) = _order.Dequeue();
        Remove(id);
        Floor = version;
    }

    private void RemoveOldestRefusal()
    {
        _refused.Remove(_refusedOrder.Dequeue(), out var oldest);
        budget.WindowBytes -= RefusalBytes;
        if (oldest!.NotBefore >= _refusedFloor) _refusedFloor = new ObjectVersion(oldest.NotBefore.Value + 1);
    }

    private void Remove(WriteId id)
    {
        if (_writes.Remove(id, out var write)) budget.WindowBytes -= EntryBytes + write.Result.Length;
    }
}
