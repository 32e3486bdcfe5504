using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Load;

/// <summary>Answers every request at once with a bare Ok: what is left is the transport.</summary>
internal sealed class EchoHandler(NodeId id) : IRoleHandler
{
    public NodeRole Role => NodeRole.Unit;

    public NodeId Id => id;

    public void Handle(Request request, ReplyTo reply) => reply.Send(request.Fail(Status.Ok, request.Epoch));
}
