namespace Salus.Region.Core;

/// <summary>Requests of one region that wait for something: each is tried again behind every turn, until it is answered
/// or its patience ends. Used in the region's turns alone.</summary>
internal sealed class ParkedRequests(int limit)
{
    // In the order of arrival.
    private readonly List<Parked> _parked = [];

    public int Count => _parked.Count;

    /// <param name="attempt">True: the request is answered, or has been taken.</param>
    /// <param name="expire">Answers a request whose patience has ended.</param>
    /// <param name="deadline">A time stamp.</param>
    /// <returns>False: too many wait.</returns>
    public bool TryAdd(Func<ValueTask<bool>> attempt, Action expire, long deadline)
    {
        if (_parked.Count >= limit) return false;
        _parked.Add(new Parked(attempt, expire, deadline));
        return true;
    }

    /// <returns>Whether a request was answered or taken: others may go on now.</returns>
    public async ValueTask<bool> RetryAsync()
    {
        var hasTaken = false;
        for (var i = 0; i < _parked.Count;)
        {
            if (!await _parked[i].Attempt())
            {
                i++;
                continue;
            }

            _parked.RemoveAt(i);
            hasTaken = true;
        }

        return hasTaken;
    }

    public void Expire(long now)
    {
        for (var i = 0; i < _parked.Count;)
        {
            if (_parked[i].Deadline > now)
            {
                i++;
                continue;
            }

            _parked[i].Expire();
            _parked.RemoveAt(i);
        }
    }

    private readonly record struct Parked(Func<ValueTask<bool>> Attempt, Action Expire, long Deadline);
}
