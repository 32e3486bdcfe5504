using System.Collections.Immutable;

namespace Corfu.ModelCheck.Processes;

/// <summary>The next state of a process, and the facts of the step.</summary>
/// <param name="Left">Requests that were sent and are not waited for any more: each may arrive later, or never.</param>
public sealed record Step(Process Next, ImmutableArray<Fact> Facts, ImmutableArray<Call> Left, string Label = "")
{
    public Step(Process next, params Fact[] facts)
        : this(next, [.. facts], [])
    {
    }
}
