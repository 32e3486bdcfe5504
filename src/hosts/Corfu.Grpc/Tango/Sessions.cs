using System.Collections.Concurrent;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>The sessions whose streams are at this front end.</summary>
internal sealed class Sessions(IOptions<CorfuGrpcOptions> options, TimeProvider time)
{
    private readonly ConcurrentDictionary<string, Session> _open = new(StringComparer.Ordinal);

    // The newest of those that hold a thing: after a broken connection there may be two for a while.
    private readonly ConcurrentDictionary<HoldingKey, Session> _holders = new();

    /// <exception cref="FrontEndLimitException">There are as many as there may be.</exception>
    public Session Open(string owner, TimeSpan timeToLive)
    {
        var limits = options.Value.Tango;
        if (_open.Count >= limits.MaxSessions)
            throw new FrontEndLimitException(nameof(limits.MaxSessions), limits.MaxSessions);
        var session = new Session(
            Guid.NewGuid().ToString("n"), owner, timeToLive, limits.MaxHeldPerSession, _holders, time);
        _open[session.Id] = session;
        return session;
    }

    /// <summary>The session's stream is over.</summary>
    public void Close(Session session)
    {
        _open.TryRemove(session.Id, out _);
        session.LetGo();
    }

    /// <exception cref="SessionNotFoundException">The session has ended, or is of another front end.</exception>
    public Session Get(string id) => id.Length == 0
        ? throw new RequestException("session is missing.")
        : _open.TryGetValue(id, out var session) && !session.Ended.IsCancellationRequested
            ? session
            : throw new SessionNotFoundException(id);

    /// <summary>A thing was given back: the session that holds it has not lost it.</summary>
    public void Forget(HoldingKey holding)
    {
        if (_holders.TryGetValue(holding, out var session)) session.Forget(holding);
    }
}
