using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>
/// A local state of a client or reconfigurer, immutable. The process waits for answers to its open calls, each of which
/// may come at any time, or acts by itself. An answer is taken in the same step as its request: no other process can
/// see the states between.
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
