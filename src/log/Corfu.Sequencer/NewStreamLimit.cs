namespace Corfu.Sequencer;

/// <summary>New streams of each client in a minute: streams are for ever, and a program with random names would use up
/// those of the log. Nodes are not counted, nor are peers without a certificate, whom only an address tells apart. Not
/// thread-safe.</summary>
internal sealed class NewStreamLimit(TimeProvider time)
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    // A client's minute, with the streams that were new in it.
    private readonly Dictionary<string, (long Began, int Streams)> _clients = [];
    private long _lastForgotten;

    public static bool Counts(Principal principal) =>
        principal is { Serial: not null, Role: not AccessRole.Node };

    /// <summary>Whether the client's minute has room for so many.</summary>
    public bool Admits(string client, int streams, int perMinute) =>
        MinuteOf(client, time.GetTimestamp()).Streams + streams <= perMinute;

    public void Count(string client, int streams)
    {
        var now = time.GetTimestamp();
        if (time.GetElapsedTime(_lastForgotten, now) >= Minute) Forget(now);
        var known = MinuteOf(client, now);
        _clients[client] = known with { Streams = known.Streams + streams };
    }

    private (long Began, int Streams) MinuteOf(string client, long now) =>
        _clients.TryGetValue(client, out var known) && time.GetElapsedTime(known.Began, now) < Minute
            ? known
            : (now, 0);

    private void Forget(long now)
    {
        foreach (var (client, (began, _)) in _clients)
        {
            if (time.GetElapsedTime(began, now) >= Minute) _clients.Remove(client);
        }

        _lastForgotten = now;
    }
}
