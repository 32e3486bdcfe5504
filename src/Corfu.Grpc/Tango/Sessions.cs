using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>The sessions of this front end.</summary>
internal sealed class Sessions(IOptions<CorfuGrpcOptions> options)
{
    private readonly ConcurrentDictionary<string, Session> _open = new(StringComparer.Ordinal);

    /// <exception cref="FrontEndLimitException">There are as many as there may be.</exception>
    public Session Open(string owner, TimeSpan timeToLive)
    {
        var limits = options.Value.Tango;
        if (_open.Count >= limits.MaxSessions)
            throw new FrontEndLimitException(nameof(limits.MaxSessions), limits.MaxSessions);
        var session = new Session(Guid.NewGuid().ToString("n"), owner, timeToLive, limits.MaxHeldPerSession);
        _open[session.Id] = session;
        return session;
    }

    /// <summary>Ends what the session holds.</summary>
    public async ValueTask EndAsync(Session session)
    {
        _open.TryRemove(session.Id, out _);
        await session.DisposeAsync();
    }

    /// <exception cref="SessionNotFoundException">It has ended, or is of another front end.</exception>
    public Session Get(string id) => TryGet(id, out var session) ? session : throw new SessionNotFoundException(id);

    private bool TryGet(string id, [NotNullWhen(true)] out Session? session) =>
        _open.TryGetValue(id, out session) && !session.Ended.IsCancellationRequested;
}
