using System.Collections.Concurrent;

namespace Craq.Calls;

/// <summary>A node as this client has met it. All routes to the node share it.</summary>
internal sealed class NodeLink(NodeAddress address, CallClock clock)
{
    private const int MostDoublings = 4;

    private int _failures;

    // A time stamp; 0: the node answers.
    private long _avoidUntil;

    public NodeAddress Address => address;

    /// <summary>The node did not answer a moment ago: others go first.</summary>
    public bool IsAvoided => Volatile.Read(ref _avoidUntil) is > 0 and var until && until > clock.GetTimestamp();

    public void Answered()
    {
        if (Volatile.Read(ref _avoidUntil) == 0) return;
        Volatile.Write(ref _avoidUntil, 0);
        Volatile.Write(ref _failures, 0);
    }

    public void Silent(TimeSpan first)
    {
        var doublings = Math.Min(Interlocked.Increment(ref _failures) - 1, MostDoublings);
        Volatile.Write(ref _avoidUntil, clock.After(first * (1 << doublings)));
    }
}

/// <summary>The nodes that the client knows of: those behind its endpoints, and members of the chains that it
/// uses.</summary>
internal sealed class NodeBook(CallClock clock)
{
    // Nodes that have gone for good stay until then.
    private const int MaxNodes = 4096;

    private readonly ConcurrentDictionary<NodeAddress, NodeLink> _links = new();

    public IEnumerable<NodeLink> All => _links.Values;

    public NodeLink Of(NodeAddress address)
    {
        if (_links.TryGetValue(address, out var link)) return link;
        if (_links.Count >= MaxNodes) _links.Clear();
        return _links.GetOrAdd(address, static (key, book) => new NodeLink(key, book), clock);
    }
}
