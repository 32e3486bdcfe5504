namespace Corfu.StateMachines.State;

/// <summary>The digests of this replica's results below the newest positions that it has played up to.</summary>
internal sealed class DigestRing
{
    public const int Capacity = 4_096;

    private readonly Queue<long> _order = [];
    private readonly Dictionary<long, (ulong Digest, bool IsTold)> _digests = [];

    public void Add(LogPosition below, ulong digest)
    {
        if (!_digests.TryAdd(below.Offset, (digest, false))) return;
        _order.Enqueue(below.Offset);
        if (_order.Count > Capacity) _digests.Remove(_order.Dequeue());
    }

    /// <summary>Takes a digest that a record tells.</summary>
    /// <exception cref="MachineDivergedException">The first one told for this position is another than
    /// here.</exception>
    // Invariant: the first one told for a position counts, by log order, so all replicas judge by the same. A replica
    // that disagrees stops before it plays on. Else a clock in Apply makes two truths, and both are served (M9). The
    // position is above every snapshot that this replica went on from: an earlier record cannot have told for it.
    public void Tell(LogPosition below, ulong told)
    {
        if (!_digests.TryGetValue(below.Offset, out var own) || own.IsTold || Planted.Is("digest-ignored")) return;
        if (own.Digest != told) throw new MachineDivergedException(below, own.Digest, told);
        _digests[below.Offset] = (told, true);
    }
}
