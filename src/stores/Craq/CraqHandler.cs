using Craq.Coordination;
using Craq.Storage;

namespace Craq;

/// <summary>A CRAQ node as a role of a process.</summary>
internal sealed class CraqHandler : IRoleHandler
{
    internal CraqHandler(NodeId id, INodeStore store, IChainDirectory directory, ITransport transport,
        TimeProvider time, CraqNodeOptions options)
    {
        Id = id;
        _ = (store, directory, transport, time, options);
    }

    public NodeRole Role => CraqRole.Role;

    public NodeId Id { get; }

    public void Handle(Request request, ReplyTo reply) =>
        reply.Send(request.Fail(Status.Unsupported, Epoch.None));
}
