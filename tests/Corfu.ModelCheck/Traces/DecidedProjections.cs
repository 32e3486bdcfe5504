using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Traces;

/// <summary>The projections that are decided in a trace: a majority of the acceptors that the epoch before names has
/// accepted one under one ballot, as some process was told (R12).</summary>
internal sealed class DecidedProjections
{
    private readonly SortedDictionary<Epoch, Projection> _decided = [];
    private readonly Dictionary<(Epoch Slot, Ballot), HashSet<NodeId>> _votes = [];

    public Projection? Of(Epoch epoch) => _decided.GetValueOrDefault(epoch);

    public IEnumerable<Projection> After(Epoch epoch) => _decided.Values.Where(p => p.Epoch > epoch);

    public bool IsDecided(Projection projection) => Of(projection.Epoch) is { } known && known.Equals(projection);

    /// <summary>The cluster's first projection, which its founder hands to the acceptors.</summary>
    public void Found(Projection first) => _decided.TryAdd(first.Epoch, first);

    /// <summary>An acceptor has accepted the value.</summary>
    /// <returns>False when the slot is decided as another.</returns>
    public bool Accepted(NodeId acceptor, Ballot ballot, Projection value)
    {
        if (!_votes.TryGetValue((value.Epoch, ballot), out var votes)) _votes[(value.Epoch, ballot)] = votes = [];
        votes.Add(acceptor);
        var deciders = DecidersOf(value.Epoch);
        if (deciders.Count(a => votes.Contains(a.Id)) <= deciders.Length / 2) return true;
        return _decided.TryAdd(value.Epoch, value) || IsDecided(value);
    }

    public ImmutableArray<NodeAddress> DecidersOf(Epoch slot) => Of(new Epoch(slot.Value - 1))?.Acceptors ?? [];
}
