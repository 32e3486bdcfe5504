using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

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
