using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Options;
using Tango.Collections;

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

    /// <summary>Null: no session of this front end has it.</summary>
    public Delivery<byte[]>? FindDelivery(Holding holding)
    {
        foreach (var (_, session) in _open)
        {
            if (session.Find<Delivery<byte[]>>(holding) is { } delivery) return delivery;
        }

        return null;
    }

    /// <summary>A delivery was completed: it is not its session's any more, and its caller has not lost it.</summary>
    public void Complete(Holding holding)
    {
        foreach (var (_, session) in _open)
        {
            if (!session.TryTake<Delivery<byte[]>>(holding, out var delivery)) continue;
            // Ends its renewals. The caller's answer does not wait for that.
            _ = delivery.DisposeAsync().AsTask();
            return;
        }
    }

    private bool TryGet(string id, [NotNullWhen(true)] out Session? session) =>
        _open.TryGetValue(id, out session) && !session.Ended.IsCancellationRequested;
}
