using Corfu.Layout;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client.Tests.Cluster;

internal sealed class MemoryAcceptor(NodeId id) : IRoleHandler
{
    private readonly Lock _gate = new();
    private readonly AcceptorCore _core = new();
    private readonly List<(Epoch Known, ReplyTo Reply)> _watchers = [];

    public NodeRole Role => NodeRole.Acceptor;

    public NodeId Id => id;

    public void Handle(Request request, ReplyTo reply)
    {
        Response response;
        List<ReplyTo> told = [];
        lock (_gate)
        {
            if (request is WatchRequest watch && (_core.Latest?.Epoch ?? Epoch.None) <= watch.Known)
            {
                _watchers.Add((watch.Known, reply));
                return;
            }

            response = _core.Handle(request).Response;
            if (_core.Latest is { } latest) told = [.. _watchers.Where(w => w.Known < latest.Epoch).Select(w => w.Reply)];
            _watchers.RemoveAll(w => told.Contains(w.Reply));
        }

        reply.Send(response);
        foreach (var watcher in told) watcher.Send(new LayoutResponse(Status.Ok, _core.Latest!.Epoch, null, _core.Latest));
    }
}
