namespace Corfu.Hosting;

/// <summary>A role whose answers to some requests are audited; all others pass as they are.</summary>
internal sealed class AuditedRole(IRoleHandler role, NodeAudit audit) : IRoleHandler
{
    public NodeRole Role => role.Role;

    public NodeId Id => role.Id;

    public int MaxWaiting => role.MaxWaiting;

    public void Handle(Request request, ReplyTo reply) => role.Handle(request, NodeAudit.Concerns(request.Opcode)
        ? new ReplyTo(new Witness(request, reply, role.Id, audit), 0, reply.Opcode)
        : reply);

    public void BatchEnd() => role.BatchEnd();

    /// <summary>Sees the answer on its way. The correlation is the reply's own.</summary>
    private sealed class Witness(Request request, ReplyTo reply, NodeId role, NodeAudit audit) : IReplySink
    {
        public Principal Principal => reply.Principal;

        public void Send(uint correlation, Opcode opcode, Response response)
        {
            audit.Answered(role, request, reply.Principal, response);
            reply.Send(response);
        }
    }
}
