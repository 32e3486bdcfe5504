using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <param name="Tail">Exclusive.</param>
/// <param name="Streams">In request order; positions newest first, at most <see cref="StreamHeader.MaxBackpointers"/>, granted but perhaps not written.
/// In a check of more than <see cref="MessageLimits.MaxItems"/> streams some may lie at or above <see cref="Tail"/>.</param>
public sealed record LogCheck(LogPosition Tail, ImmutableArray<StreamTail> Streams);
