using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>One remembered grant: the headers that the writer was given.</summary>
public sealed record Grant(LogPosition Position, ImmutableArray<StreamTail> Previous);
