using Corfu.ZooKeeper.FourLetter;

namespace Corfu.ZooKeeper.Serving;

/// <summary>Counts of requests. Guarded by the front end's gate.</summary>
internal sealed class RequestCounters
{
    private TimeSpan _shortest = TimeSpan.MaxValue;
    private TimeSpan _longest;
    private TimeSpan _sum;
    private long _replies;

    public long Received { get; set; }

    public long Sent { get; set; }

    public void OnReply(TimeSpan took)
    {
        _replies++;
        _sum += took;
        if (took < _shortest) _shortest = took;
        if (took > _longest) _longest = took;
    }

    public void Reset()
    {
        (Received, Sent, _replies) = (0, 0, 0);
        (_shortest, _longest, _sum) = (TimeSpan.MaxValue, TimeSpan.Zero, TimeSpan.Zero);
    }

    /// <param name="waiting">Requests without a reply.</param>
    public RequestFigures Read(long waiting) => _replies == 0
        ? new RequestFigures(Received, Sent, waiting, 0, 0, 0)
        : new RequestFigures(Received, Sent, waiting, (long)_shortest.TotalMilliseconds,
            _sum.TotalMilliseconds / _replies, (long)_longest.TotalMilliseconds);
}
