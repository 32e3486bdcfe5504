using Corfu.Unit;

namespace Corfu.Hosting;

internal sealed class UnitNodeRole : INodeRole
{
    public string Name => nameof(NodeRole.Unit);

    public NodeRole Role => NodeRole.Unit;

    public bool HasFolder => true;

    public bool IsInProjections => true;

    public void AddRequests(RequestTable table) => UnitMessages.AddTo(table);

    public async Task<RunningRole> OpenAsync(RoleStart start)
    {
        var options = start.Limits.Unit with
        {
            Folder = start.Folder,
            Id = start.Id,
            Cluster = start.Cluster,
            MustExist = !start.IsNew,
        };
        try
        {
            var unit = await UnitNode.OpenAsync(options, SystemEntropy.Instance);
            return new RunningRole(unit.Handler, unit)
            {
                Fault = unit.Handler.Fault,
                Warning = () => unit.Handler.Shortage,
            };
        }
        catch (UnitFolderException e) when (!e.IsLoss)
        {
            throw new IOException(e.Message, e);
        }
    }

    public async Task<RoleAnswer> ProbeAsync(
        ITransport transport, NodeAddress node, CancellationToken cancellationToken)
    {
        var unit = await transport.CallAsync(node, new UnitInfoRequest(Epoch.None), cancellationToken);
        if (!unit.IsOk)
        {
            var why = unit.Reason.Length > 0 ? unit.Reason : $"answers {unit.Status}";
            return new RoleAnswer(true, Epoch.None, why) { Refusal = why };
        }

        var epoch = unit.Installed == Epoch.None ? "no epoch yet" : unit.Installed.ToString();
        var detail = $"{epoch}, {unit.Pages} pages, {unit.StoredBytes} bytes";
        if (unit.CorruptPages > 0) detail += $", {unit.CorruptPages} corrupt pages";
        if (unit.Reason.Length > 0) detail += $", {unit.Reason}";
        return new RoleAnswer(true, unit.Installed, detail)
        {
            TrimMark = unit.TrimMark,
            StoredBytes = unit.StoredBytes,
            IsFresh = unit.Installed == Epoch.None && unit.Pages == 0 && unit.End == LogPosition.Zero,
            Refusal = unit.Health == UnitHealth.Ok
                ? null
                : unit.Reason.Length > 0 ? unit.Reason : unit.Health.ToString(),
            Warning = unit.Health == UnitHealth.Ok && unit.Reason.Length > 0 ? unit.Reason : null,
        };
    }

    public string DutyIn(Projection? projection, NodeId id, RoleAnswer answer)
    {
        if (projection?.HasUnit(id) == true) return ClusterVerdict.IsJoining(projection, id) ? "joining" : "serving";
        return !answer.Answers ? "unknown" : answer.IsFresh ? "spare" : "removed";
    }
}
