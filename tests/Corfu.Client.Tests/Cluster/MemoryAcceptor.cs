using Corfu.Layout;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client.Tests.Cluster;

internal sealed class MemoryAcceptor(NodeId id) : IRoleHandler
{
    private readonly Lock _gate = new();
    private readonly AcceptorCore _core = new();

    public NodeRole Role => NodeRole.Acceptor;

    public NodeId Id => id;

    public void Handle(Request request, ReplyTo reply)
    {
        Response response;
        lock (_gate) response = _core.Handle(request).Response;
        reply.Send(response);
    }
}
