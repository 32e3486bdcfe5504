using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>One copied entry and the streams it belongs to.</summary>
public readonly record struct AdvancedEntry(LogPosition Position, ImmutableArray<StreamId> Streams)
{
    internal const int SmallestSize = 12;
}
