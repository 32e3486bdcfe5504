using Corfu.Protocol;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>
/// Moves byte arrays between hosts: every message may be lost, duplicated, delayed, reordered or blocked. Hosts are
/// names here, and messages are bytes.
/// </summary>
public sealed class SimNetwork
{
    private readonly World _world;
    private readonly SimRandom _random;
    private readonly Dictionary<(string From, string To), Link> _links = [];
    private readonly SimRandom _choice;
    private Func<Request, bool> _held = static _ => false;
    private long _heldUntil;
    private Func<Request, bool> _lost = static _ => false;
    private double _lostShare;

    public SimNetwork(World world, NetworkOptions options)
    {
        _world = world;
        _random = world.Random.Split("network");
        _choice = world.Random.Split("lost requests");
        Options = options;
    }

    public NetworkOptions Options { get; set; }

    public NetworkStats Stats { get; } = new();

    /// <summary>The version that both sides of every connection speak.</summary>
    public ushort Version { get; init; } = WireProtocol.Baseline;

    /// <summary>Told of every call of every process; null: no observer.</summary>
    public ICallObserver? Calls { get; set; }

    /// <summary>Drops everything sent from one host to another until the link is healed: one way only.</summary>
    public void Block(string from, string to)
    {
        LinkOf(from, to).Blocked = true;
        _world.Note("block from", from);
        _world.Note("block to", to);
    }

    public void Unblock(string from, string to) => LinkOf(from, to).Blocked = false;

    /// <summary>Holds everything sent on a link until then (a clogged path), without losing it.</summary>
    public void Clog(string from, string to, long ticks)
    {
        LinkOf(from, to).ClogUntil = _world.Now + ticks;
        _world.Note("clog from", from, ticks);
        _world.Note("clog to", to);
    }

    /// <summary>Holds the requests that match for a while, and no others.</summary>
    public void Hold(Func<Request, bool> which, long ticks)
    {
        (_held, _heldUntil) = (which, _world.Now + ticks);
        _world.Note("hold requests", null, ticks);
    }

    /// <summary>Loses a share of the requests that match, besides the share of all messages.</summary>
    public void Lose(Func<Request, bool> which, double share) => (_lost, _lostShare) = (which, share);

    /// <summary>Whether the request never arrives.</summary>
    internal bool Loses(Request request)
    {
        if (_lostShare == 0 || !_lost(request) || !_choice.Chance(_lostShare)) return false;
        Stats.LostRequests++;
        _world.Note("lost request");
        return true;
    }

    /// <summary>Virtual time before which the request does not arrive.</summary>
    internal long HeldUntil(Request request) => _held(request) ? _heldUntil : 0;

    public void HealAll()
    {
        _heldUntil = 0;
        _lostShare = 0;
        foreach (Link link in _links.Values)
        {
            link.Blocked = false;
            link.ClogUntil = 0;
        }
    }

    /// <summary>Sends a message: <paramref name="deliver"/> runs on the receiver never, once or twice, and not before
    /// the given time.</summary>
    public void Send(string from, string to, SimProcess receiver, byte[] message, Action<byte[]> deliver,
        long notBefore = 0)
    {
        Link link = LinkOf(from, to);
        Stats.Messages++;
        _world.Note("send", to, receiver.Id, 0, message);
        if (link.Blocked)
        {
            Stats.Blocked++;
            return;
        }

        if (_random.Chance(Options.Loss))
        {
            Stats.Lost++;
            _world.Note("lost");
            return;
        }

        Deliver(link, receiver, message, deliver, notBefore);
        if (_random.Chance(Options.Duplication))
        {
            Stats.Duplicated++;
            Deliver(link, receiver, message, deliver, notBefore);
        }
    }

    private void Deliver(Link link, SimProcess receiver, byte[] message, Action<byte[]> deliver, long notBefore)
    {
        long delay = Options.MinLatency + _random.Exponential(Options.Jitter + 1);
        if (_random.Chance(Options.LongDelay))
        {
            Stats.Delayed++;
            delay += _random.Next(Options.LongDelayMax);
        }

        long due = Math.Max(Math.Max(_world.Now + delay, link.ClogUntil), notBefore);
        if (due < link.LastDue)
        {
            Stats.Reordered++;
        }

        link.LastDue = Math.Max(link.LastDue, due);
        _world.Schedule(receiver, due - _world.Now, SimEventKind.Deliver, () => deliver(message));
    }

    private Link LinkOf(string from, string to)
    {
        if (!_links.TryGetValue((from, to), out Link? link))
        {
            link = new Link();
            _links.Add((from, to), link);
        }

        return link;
    }

    private sealed class Link
    {
        public bool Blocked { get; set; }

        public long ClogUntil { get; set; }

        public long LastDue { get; set; }
    }
}
