using Corfu.Server;

namespace Corfu.Hosting;

/// <summary>The handlers of a process.</summary>
internal sealed class ProcessHandlers(RoleRegistry registry, NodeAudit? audit) : IRoleHandlers
{
    public bool Add(IRoleHandler handler)
    {
        try
        {
            registry.Add(NodeAudit.Around(handler, audit));
            return true;
        }
        catch (ObjectDisposedException)
        {
            return false;
        }
    }

    public bool Remove(NodeId id) => registry.Remove(id);
}
