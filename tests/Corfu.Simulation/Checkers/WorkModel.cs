using Corfu.Protocol;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Checkers;

/// <summary>What a work queue is, played from the calls in the log. Clients neither revive nor drop.</summary>
internal sealed class WorkModel
{
    private const int MaxAttempts = 5;

    private readonly SortedDictionary<long, int> _ready = [];
    private readonly SortedDictionary<long, Taken> _taken = [];
    private long _last;

    /// <summary>By number.</summary>
    public List<string> Items { get; } = [];

    public HashSet<long> Done { get; } = [];

    public HashSet<long> Dead { get; } = [];

    /// <summary>Items that are neither done nor dead.</summary>
    public int Left => _ready.Count + _taken.Count;

    /// <summary>An expiry that took effect: the time to live, and the last sign of life.</summary>
    public (long Milliseconds, LogPosition Seen)? Expired { get; private set; }

    /// <returns>What the queue should have refused; null: nothing.</returns>
    public string? Apply(TangoChange<TangoWorkQueue<string>> change)
    {
        Expired = null;
        LogPosition at = change.Place.Position;
        switch (change.Mutator!.Name)
        {
            case "Add":
                Items.Add(change.ReadArgument<string>());
                _ready.Add(Items.Count, 0);
                return null;
            case "Take":
                if (_ready.Count == 0) return null;
                (long first, int attempts) = _ready.First();
                _ready.Remove(first);
                _taken.Add(first, new Taken(++_last, _last, attempts + 1, change.ReadArgument<long>(), at));
                return null;
            case "Renew":
                long renewed = change.ReadKey<LeaseRenewal>().Lease;
                if (Of(renewed, change.ReadArgument<long>()) is { } kept)
                    _taken[renewed] = kept with { Version = ++_last, Seen = at };
                return null;
            case "Return":
                if (Of(change.ReadKey<long>(), change.ReadArgument<long>()) is not null) End(change.ReadKey<long>());
                return null;
            case "Expire":
                long silent = change.ReadKey<long>();
                if (!_taken.TryGetValue(silent, out Taken? expired)
                    || expired.Version != change.ReadArgument<long>()) return null;
                Expired = (expired.Milliseconds, expired.Seen);
                End(silent);
                return null;
            default:
                (long item, long token) = (change.ReadKey<long>(), change.ReadArgument<long>());
                if (Of(item, token) is null)
                    return $"{change.Mutator.Name} of item {item} by delivery {token}, which is over";
                if (change.Mutator.Name == "GiveBack") End(item);
                else if (_taken.Remove(item)) Done.Add(item);
                return null;
        }
    }

    private Taken? Of(long item, long token) =>
        _taken.TryGetValue(item, out Taken? taken) && taken.Token == token ? taken : null;

    private void End(long item)
    {
        Taken ended = _taken[item];
        _taken.Remove(item);
        if (ended.Attempt < MaxAttempts) _ready.Add(item, ended.Attempt);
        else Dead.Add(item);
    }

    private sealed record Taken(long Token, long Version, int Attempt, long Milliseconds, LogPosition Seen);
}
