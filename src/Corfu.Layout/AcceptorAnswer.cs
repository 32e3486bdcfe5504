using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Layout;

/// <summary>What to answer, and what must be durable before: these records, and those of every request handled earlier (R12).</summary>
/// <param name="MayWait">These say nothing that is not durable already: they become so with whatever is flushed next.</param>
public readonly record struct AcceptorAnswer(Response Response, ImmutableArray<AcceptorRecord> Records, bool MayWait = false);
