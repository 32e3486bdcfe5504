using System.Collections.Concurrent;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>The sessions whose streams are at this front end.</summary>
internal sealed class Sessions(IOptions<CorfuGrpcOptions> options, TimeProvider time)
{
    private readonly ConcurrentDictionary<string, Session> _open = new(StringComparer.Ordinal);

    // The newest of those that hold a thing: after a broken connection there may be two for a while.
    private readonly ConcurrentDictionary<HoldingKey, Session> _holders = new();

    /// <param name="caller">No other's calls find the session.</param>
    /// <param name="owner">For people.</param>
    public Session Open(string caller, string owner, TimeSpan timeToLive)
    {
        var session = new Session(
            Guid.NewGuid().ToString("n"), (caller, owner), timeToLive, options.Value.Tango.MaxHeldPerSession, _holders,
            time);
        _open[session.Id] = session;
        return session;
    }

    /// <summary>The session's stream is over.</summary>
    public void Close(Session session)
    {
        _open.TryRemove(session.Id, out _);
        session.LetGo();
    }

    /// <exception cref="SessionNotFoundException">The session has ended, or is of another front end or
    /// caller.</exception>
    public Session Get(string id, string caller) => id.Length == 0
        ? throw new RequestException("session is missing.")
        : _open.TryGetValue(id, out var session) && session.Caller == caller
            && !session.Ended.IsCancellationRequested
            ? session
            : throw new SessionNotFoundException(id);

    /// <summary>A thing was given back: the session that holds it has not lost it.</summary>
    public void Forget(HoldingKey holding)
    {
        if (_holders.TryGetValue(holding, out var session)) session.Forget(holding);
    }
}
