using Corfu.Layout;
using Corfu.Register;

namespace Corfu.Hosting;

internal sealed class AcceptorNodeRole : INodeRole
{
    public string Name => nameof(NodeRole.Acceptor);

    public NodeRole Role => NodeRole.Acceptor;

    public bool HasFolder => true;

    public bool IsInProjections => true;

    public void AddRequests(RequestTable table) => LayoutMessages.AddTo(table);

    public async Task<RunningRole> OpenAsync(RoleStart start)
    {
        var device = FileAcceptorDevice.Open(start.Folder);
        try
        {
            var handler = await AcceptorHandler.OpenAsync(
                device, start.Cluster, start.IsNew ? start.Id : NodeId.None, start.Limits.Acceptor);
            return new RunningRole(handler, handler) { Fault = handler.Fault };
        }
        catch
        {
            await device.DisposeAsync();
            throw;
        }
    }

    public async Task<RoleAnswer> ProbeAsync(
        ITransport transport, NodeAddress node, CancellationToken cancellationToken)
    {
        var acceptor = await transport.CallAsync(node, new LatestRequest(Epoch.None), cancellationToken);
        if (!acceptor.IsOk)
            return new RoleAnswer(true, Epoch.None, $"answers {acceptor.Status}")
            {
                Refusal = $"answers {acceptor.Status}",
            };
        return acceptor.Latest is { Epoch: var epoch }
            ? new RoleAnswer(true, epoch, $"{epoch}")
            : new RoleAnswer(true, Epoch.None, "nothing decided");
    }

    public string DutyIn(Projection? projection, NodeId id, RoleAnswer answer) =>
        projection?.Acceptors.Any(acceptor => acceptor.Id == id) == true ? "serving" : "standby";
}
