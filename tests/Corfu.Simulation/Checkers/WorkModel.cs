using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Checkers;

/// <summary>Model of a work queue, played from the calls in the log. Clients neither revive nor drop.</summary>
internal sealed class WorkModel
{
    private const int MaxAttempts = 5;

    private readonly SortedDictionary<long, int> _ready = [];
    private readonly SortedDictionary<long, Taken> _taken = [];
    private readonly SortedDictionary<long, Ticket> _line = [];
    private long _last;
    private long _lastTicket;

    /// <summary>By number.</summary>
    public List<string> Items { get; } = [];

    public HashSet<long> Done { get; } = [];

    public HashSet<long> Dead { get; } = [];

    /// <summary>Items that are neither done nor dead.</summary>
    public int Left => _ready.Count + _taken.Count;

    /// <summary>An expiry that took effect: what expired, its time to live, and its last sign of life.</summary>
    public (string What, long Milliseconds, LogPosition Seen)? Expired { get; private set; }

    /// <returns>A call that the queue should have refused; null: none.</returns>
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
                long ticket = change.ReadArgument<long>();
                if (!MayTake(ticket)) return null;
                _line.Remove(ticket);
                (long first, int attempts) = _ready.First();
                _ready.Remove(first);
                _taken.Add(first, new Taken(++_last, _last, attempts + 1, change.ReadArgument<long>(1), at));
                return null;
            case "Enter" or "RenewTicket" or "Leave" or "ExpireTicket":
                ApplyToLine(change, at);
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
                Expired = ($"item {silent}", expired.Milliseconds, expired.Seen);
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

    /// <summary>Tickets take in their order, one for each item. Without a ticket, what is left.</summary>
    private bool MayTake(long ticket)
    {
        if (ticket == 0) return _ready.Count > _line.Count;
        return _line.ContainsKey(ticket) && _line.Keys.Count(other => other < ticket) < _ready.Count;
    }

    private void ApplyToLine(TangoChange<TangoWorkQueue<string>> change, LogPosition at)
    {
        long argument = change.ReadArgument<long>();
        switch (change.Mutator!.Name)
        {
            case "Enter":
                _line.Add(++_lastTicket, new Ticket(_lastTicket, argument, at));
                return;
            case "RenewTicket":
                if (_line.TryGetValue(argument, out Ticket? kept))
                    _line[argument] = kept with { Version = ++_lastTicket, Seen = at };
                return;
            case "Leave":
                _line.Remove(argument);
                return;
            default:
                if (!_line.TryGetValue(argument, out Ticket? expired)
                    || expired.Version != change.ReadArgument<long>(1)) return;
                Expired = ($"receiver {argument}", expired.Milliseconds, expired.Seen);
                _line.Remove(argument);
                return;
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

    private sealed record Ticket(long Version, long Milliseconds, LogPosition Seen);

    private sealed record Taken(long Token, long Version, int Attempt, long Milliseconds, LogPosition Seen);
}
