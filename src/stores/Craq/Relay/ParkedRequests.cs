namespace Craq.Relay;

/// <summary>The requests of a member's predecessor from the first one that waits for a relayed value, in their order.
/// Under the node's lock.</summary>
/// <param name="limit">Bytes of the requests together.</param>
internal sealed class ParkedRequests(long limit)
{
    private readonly LinkedList<ParkedRequest> _requests = new();
    private long _bytes;

    public int Count => _requests.Count;

    public ParkedRequest? First => _requests.First?.Value;

    public bool HasRoom(ReplicateRequest request) => _bytes + SizeOf(request) <= limit;

    /// <summary>Behind what waits already.</summary>
    public void Add(ParkedRequest parked)
    {
        _requests.AddLast(parked);
        _bytes += SizeOf(parked.Request);
    }

    /// <summary>The first one, which waits no longer; null: there is none.</summary>
    public ParkedRequest? TakeFirst()
    {
        if (First is not { } first) return null;
        _requests.RemoveFirst();
        _bytes -= SizeOf(first.Request);
        return first;
    }

    /// <summary>The request that was the first one waits on.</summary>
    public void PutBack(ParkedRequest first)
    {
        _requests.AddFirst(first);
        _bytes += SizeOf(first.Request);
    }

    private static long SizeOf(ReplicateRequest request) => request.Records.Sum(static record => (long)record.Length);
}

/// <param name="Request">Owns its memory.</param>
/// <param name="Arrived">The stamp of its arrival.</param>
internal sealed record ParkedRequest(ReplicateRequest Request, ReplyTo To, long Arrived);
