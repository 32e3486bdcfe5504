using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Checkers;

/// <summary>Model of a lock, played from the calls in the log.</summary>
internal sealed class LockModel
{
    private readonly SortedDictionary<long, (long Version, long Milliseconds, LogPosition Seen)> _tickets = [];
    private long _last;

    public long? Holder => _tickets.Count > 0 ? _tickets.First().Key : null;

    /// <returns>An expiry that took effect: the ticket, its time to live, and its last sign of life.</returns>
    public (long Ticket, long Milliseconds, LogPosition Seen)? Apply(TangoChange<TangoLock> change)
    {
        LogPosition at = change.Place.Position;
        switch (change.Mutator!.Name)
        {
            case "TakeTicket":
                if (change.ReadArgument<bool>(2) && _tickets.Count > 0) return null;
                _tickets.Add(++_last, (_last, change.ReadArgument<long>(1), at));
                return null;
            case "Renew":
                long renewed = change.ReadKey<LeaseRenewal>().Lease;
                if (_tickets.TryGetValue(renewed, out var ticket))
                    _tickets[renewed] = (++_last, ticket.Milliseconds, at);
                return null;
            case "Leave":
                _tickets.Remove(change.ReadKey<long>());
                return null;
            default:
                long silent = change.ReadKey<long>();
                if (!_tickets.TryGetValue(silent, out var expired) || expired.Version != change.ReadArgument<long>())
                    return null;
                _tickets.Remove(silent);
                return (silent, expired.Milliseconds, expired.Seen);
        }
    }
}
