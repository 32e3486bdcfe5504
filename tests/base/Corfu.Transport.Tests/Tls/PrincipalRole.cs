using Corfu.Protocol;

namespace Corfu.Transport.Tests.Tls;

/// <summary>Keeps who asked last.</summary>
internal sealed class PrincipalRole : IRoleHandler
{
    public NodeRole Role => NodeRole.Unit;

    public NodeId Id { get; } = new(Guid.NewGuid());

    public Principal? Seen { get; private set; }

    public void Handle(Request request, ReplyTo reply)
    {
        Seen = reply.Principal;
        reply.Send(request.Fail(Status.Ok, request.Epoch));
    }

    public void BatchEnd()
    {
    }
}
