using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What a unit's core is told at construction.</summary>
public sealed record UnitCoreOptions
{
    /// <summary>Projections of another cluster are refused.</summary>
    public ClusterId Cluster { get; init; }

    /// <summary>
    /// Streams that the unit keeps tails of, at about 150 bytes of memory each. An append that would add another one
    /// gets <see cref="Status.NoSpace"/>; what other replicas have taken already is completed and copied here all the
    /// same. Default 4,000,000.
    /// </summary>
    public int MaxStreams { get; init; } = 4_000_000;

    /// <summary>Entries with a larger payload get <see cref="Status.TooLarge"/>. Default 1 MiB.</summary>
    public int MaxPayload { get; init; } = EntryCodec.DefaultMaxPayload;
}
