using Corfu.Protocol;

namespace Corfu.ModelCheck.Nodes;

/// <summary>
/// A local state of a server, immutable. A request is handed to the product's core, brought to this state from its
/// durable records. Every step of the model is therefore a restart as well, and a core that recovers to a different
/// state is found at once.
/// </summary>
public abstract class NodeState
{
    /// <summary>Equal for equal states, whatever led to them.</summary>
    public abstract string Key { get; }

    /// <exception cref="ModelException">The core broke an invariant of its own.</exception>
    public abstract (NodeState Next, Response Response) Handle(Request request);
}
