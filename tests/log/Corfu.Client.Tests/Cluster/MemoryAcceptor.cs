using Corfu.Layout;
using Corfu.Protocol;
using Corfu.Register;
using Corfu.Transport;

namespace Corfu.Client.Tests.Cluster;

internal sealed class MemoryAcceptor(NodeId id) : IRoleHandler
{
    private readonly Lock _gate = new();
    private readonly AcceptorCore _core = new();
    private readonly ProjectionRegister _register = new();
    private readonly List<(Epoch Known, ReplyTo Reply)> _watchers = [];

    public NodeRole Role => NodeRole.Acceptor;

    public NodeId Id => id;

    public void Handle(Request request, ReplyTo reply)
    {
        Response response;
        List<(ReplyTo Reply, Response Response)> told = [];
        lock (_gate)
        {
            if (request is WatchRequest watch && (_core.Newest?.Slot ?? Epoch.None) <= watch.Known)
            {
                _watchers.Add((watch.Known, reply));
                return;
            }

            response = ProjectionRegister.Read(request) is { } asked
                ? _register.ToResponse(_core.Handle(asked).Answer)
                : request.Fail(Status.Unsupported, Epoch.None);
            foreach (var (known, watcher) in _watchers)
            {
                if (_register.ToProjection(_core.Newest) is { } latest && known < latest.Epoch)
                    told.Add((watcher, new LayoutResponse(Status.Ok, latest.Epoch, null, latest)));
            }

            _watchers.RemoveAll(w => told.Exists(t => t.Reply.Equals(w.Reply)));
        }

        reply.Send(response);
        foreach (var (watcher, what) in told) watcher.Send(what);
    }
}
