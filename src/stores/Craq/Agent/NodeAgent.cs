using Craq.Coordination;
using Craq.Learning;
using Craq.Storage;
using Microsoft.Extensions.Logging;

namespace Craq.Agent;

/// <summary>The work of a node besides serving: its agent, its learners and its side as a source. Attached before the
/// node's handler is registered.</summary>
internal sealed class NodeAgent : IAsyncDisposable
{
    private readonly CraqAgent _agent;
    private readonly Learners _learners;

    private NodeAgent(CraqAgent agent, Learners learners) => (_agent, _learners) = (agent, learners);

    public static NodeAgent Attach(CraqHandler handler, INodeStore store, NodeAgentParts parts, TimeProvider time,
        LoopContext? loops, ILogger logger)
    {
        var learners = new Learners(
            handler, store, parts.Directory, parts.Transport, time, parts.Node, loops ?? LoopContext.Pool);
        var agent = new CraqAgent(handler.Id,
            new CraqAgentParts(parts.Directory, parts.Registry, parts.Transport, learners) { Probes = parts.Probes },
            parts.Agent, time, loops,
            logger);
        var source = new Source(handler, store, time);
        handler.Route(CraqOpcode.Reconcile, (request, reply) => source.Handle((ReconcileRequest)request, reply));
        handler.Route(CraqOpcode.Ping,
            (request, reply) => agent.Handle((PingNodeRequest)request, reply, handler.Fault.IsCompleted));
        return new NodeAgent(agent, learners);
    }

    public async ValueTask DisposeAsync()
    {
        await _agent.DisposeAsync();
        await _learners.DisposeAsync();
    }
}

/// <param name="Directory">The directory of this process.</param>
/// <param name="Registry">The node's own registration.</param>
internal sealed record NodeAgentParts(IChainDirectory Directory, INodeRegistry Registry, ITransport Transport,
    CraqNodeOptions Node, CraqAgentOptions Agent)
{
    /// <summary>Connections for probes: a node that failed a moment ago is not held off for long.</summary>
    public ITransport Probes { get; init; } = Transport;
}
