using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>
/// One local state of a client or reconfigurer, immutable. It waits for answers to its open calls, each of which may
/// come at any time, or does something of its own accord. An answer is taken in the same step as its request: what lies
/// between is nobody else's business.
/// </summary>
public abstract record Process
{
    public abstract string Name { get; }

    /// <summary>Equal for equal states, whatever led to them.</summary>
    public abstract string Key { get; }

    public abstract ImmutableArray<Call> Calls { get; }

    public abstract Step Answer(int call, Response response);

    /// <summary>Steps that need no answer.</summary>
    public virtual ImmutableArray<Step> Choices => [];
}
