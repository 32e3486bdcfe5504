using System.Collections.Concurrent;

namespace Salus.Reads;

/// <summary>Questions under way at each member, so that the next one goes to the least busy. Any thread.</summary>
internal sealed class MemberLoad
{
    // Members that are gone for good are forgotten then.
    private const int MostMembers = 4096;

    private readonly ConcurrentDictionary<Incarnation, Count> _counts = new();
    private int _turn;

    /// <summary>The least busy of the members that have an address; of equal ones another one each time. Null: none.
    /// </summary>
    public RouteMember? Choose(IReadOnlyList<RouteMember> members)
    {
        RouteMember? best = null;
        var least = long.MaxValue;
        var from = Interlocked.Increment(ref _turn) & int.MaxValue;
        for (var i = 0; i < members.Count; i++)
        {
            var member = members[(from + i) % members.Count];
            if (member.Address is null) continue;
            // A member that has no files of the region yet asks a peer for each answer.
            var load = Of(member.Incarnation) + (member.Member.IsFilled ? 0 : 1L << 32);
            if (load >= least) continue;
            (best, least) = (member, load);
        }

        return best;
    }

    public void Begin(Incarnation member)
    {
        if (_counts.Count >= MostMembers) _counts.Clear();
        Interlocked.Increment(ref _counts.GetOrAdd(member, static _ => new Count()).Value);
    }

    public void End(Incarnation member)
    {
        if (_counts.TryGetValue(member, out var count)) Interlocked.Decrement(ref count.Value);
    }

    private int Of(Incarnation member) =>
        _counts.TryGetValue(member, out var count) ? Volatile.Read(ref count.Value) : 0;

    private sealed class Count
    {
        public int Value;
    }
}
