using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What a unit's core is told at construction.</summary>
public sealed record UnitCoreOptions
{
    /// <summary>Projections of another cluster are refused.</summary>
    public ClusterId Cluster { get; init; }

    /// <summary>Entries with a larger payload get <see cref="Status.TooLarge"/>. Default 1 MiB.</summary>
    public int MaxPayload { get; init; } = EntryCodec.DefaultMaxPayload;
}
