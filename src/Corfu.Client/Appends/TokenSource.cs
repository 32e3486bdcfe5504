using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>A position of one's own with the headers to write there. A grant, not a write.</summary>
internal readonly record struct TokenGrant(EpochView View, LogPosition Position, ImmutableArray<StreamHeader> Headers);

/// <summary>Positions for appends, one queue for each set of streams in use.</summary>
internal sealed class TokenSource(
    Retry retry, StreamHandOver handOver, ClientClock clock, CorfuClientOptions options)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<StreamSet, TokenQueue> _queues = [];

    /// <exception cref="OperationCanceledException">No position was granted for this caller.</exception>
    public Task<TokenGrant> TakeAsync(
        ImmutableArray<StreamId> streams, ushort graceMilliseconds, CancellationToken cancellationToken)
    {
        var set = new StreamSet(streams);
        TokenQueue? queue;
        lock (_gate)
        {
            if (!_queues.TryGetValue(set, out queue))
                _queues[set] = queue = new TokenQueue(streams, retry, handOver, clock, options);
            queue.Users++;
        }

        var token = queue.TakeAsync(graceMilliseconds, cancellationToken);
        return token.IsCompletedSuccessfully ? Left(set, queue, token) : LeaveAsync(set, queue, token);
    }

    private async Task<TokenGrant> LeaveAsync(StreamSet set, TokenQueue queue, Task<TokenGrant> token)
    {
        try
        {
            return await token;
        }
        finally
        {
            _ = Left(set, queue, token);
        }
    }

    // The queue goes with its last user, so that there are never more of them than appends in flight.
    private Task<TokenGrant> Left(StreamSet set, TokenQueue queue, Task<TokenGrant> token)
    {
        lock (_gate)
        {
            if (--queue.Users == 0) _queues.Remove(set);
        }

        return token;
    }
}

/// <summary>The streams of one append, compared by content and order.</summary>
internal readonly struct StreamSet(ImmutableArray<StreamId> streams) : IEquatable<StreamSet>
{
    public ImmutableArray<StreamId> Streams { get; } = streams;

    public bool Equals(StreamSet other) => Streams.AsSpan().SequenceEqual(other.Streams.AsSpan());

    public override bool Equals(object? obj) => obj is StreamSet other && Equals(other);

    public override int GetHashCode()
    {
        var hash = Streams.Length;
        foreach (var stream in Streams) hash = unchecked((hash * 31) + stream.Value.GetHashCode());
        return hash;
    }
}
