using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What a unit's core is told at construction.</summary>
internal sealed record UnitCoreOptions
{
    /// <summary>Projections of another cluster are refused.</summary>
    public ClusterId Cluster { get; init; }

    public const int DefaultMaxStreams = 4_000_000;

    /// <summary>Streams that the unit keeps tails of. An append that would add another gets
    /// <see cref="Status.NoSpace"/>; entries that other replicas hold are completed all the same.</summary>
    public int MaxStreams { get; init; } = DefaultMaxStreams;

    /// <summary>Entries with a larger payload get <see cref="Status.TooLarge"/>.</summary>
    public int MaxPayload { get; init; } = EntryCodec.DefaultMaxPayload;
}
