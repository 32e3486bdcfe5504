namespace Corfu.Hosting;

/// <summary>Stands for a unit or an acceptor that must not serve: damaged, or removed. It says why and refuses
/// everything else, so that agents act on its word and clients do not wait for it.</summary>
internal sealed class StoppedRole(NodeRole role, NodeId id, string reason) : IRoleHandler
{
    public NodeRole Role => role;

    public NodeId Id => id;

    public string Reason => reason;

    public void Handle(Request request, ReplyTo reply) =>
        reply.Send(request is UnitInfoRequest
            ? UnitInfoResponse.Failed(Epoch.None, reason)
            : request.Fail(Status.Failed, Epoch.None));
}
