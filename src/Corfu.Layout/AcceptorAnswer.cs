using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Layout;

/// <summary>
/// What to answer, and what must be durable before: these records, and those of every request handled earlier (R12).
/// </summary>
public readonly record struct AcceptorAnswer(Response Response, ImmutableArray<AcceptorRecord> Records);
