namespace Corfu.Hosting;

/// <summary>A role's answer to a status query.</summary>
/// <param name="Epoch">The epoch that it serves; none if it serves none, or does not answer.</param>
/// <param name="Detail">The role's own report, or the reason why it does not answer.</param>
public sealed record RoleAnswer(bool Answers, Epoch Epoch, string Detail)
{
    /// <summary>A unit that never held anything.</summary>
    public bool IsFresh { get; init; }

    /// <summary>Why it takes no entries although it answers, or null.</summary>
    public string? Refusal { get; init; }

    /// <summary>Why it will soon take none, or null.</summary>
    public string? Warning { get; init; }

    /// <summary>Below it a unit has released everything.</summary>
    public LogPosition TrimMark { get; init; }

    /// <summary>Bytes of a unit's pages.</summary>
    public long StoredBytes { get; init; }

    /// <summary>A sequencer's.</summary>
    public LogPosition? Tail { get; init; }

    public static RoleAnswer Silent(string why) => new(false, Epoch.None, why);

    /// <summary>The role's duty: serving, joining (being rebuilt), spare, standby, removed (it never returns under this
    /// identity), or unknown while it does not answer. Every tool that shows a role uses these words.</summary>
    public string DutyIn(Projection? projection, NodeRole role, NodeId id)
    {
        switch (role)
        {
            case NodeRole.Unit when projection?.HasUnit(id) == true:
                return ClusterVerdict.IsJoining(projection, id) ? "joining" : "serving";
            case NodeRole.Unit:
                return !Answers ? "unknown" : IsFresh ? "spare" : "removed";
            case NodeRole.Sequencer:
                return projection?.Sequencer.Id == id && !id.IsNone ? "serving" : "standby";
            case NodeRole.Acceptor:
                return projection?.Acceptors.Any(acceptor => acceptor.Id == id) == true ? "serving" : "standby";
            default:
                return "serving";
        }
    }
}

/// <summary>Asks one role how it is. Changes nothing.</summary>
public static class RoleProbe
{
    public static async Task<RoleAnswer> AskAsync(
        ITransport transport, NodeAddress address, NodeRole role, CancellationToken cancellationToken)
    {
        try
        {
            return role switch
            {
                NodeRole.Unit =>
                    OfUnit(await transport.CallAsync(address, new UnitInfoRequest(Epoch.None), cancellationToken)),
                NodeRole.Sequencer =>
                    OfSequencer(await transport.CallAsync(address, new SequencerInfoRequest(Epoch.None),
                        cancellationToken)),
                NodeRole.Acceptor =>
                    OfAcceptor(await transport.CallAsync(address, new LatestRequest(Epoch.None), cancellationToken)),
                _ => new RoleAnswer(true, Epoch.None, ""),
            };
        }
        catch (CorfuException e)
        {
            return RoleAnswer.Silent(e.Message);
        }
    }

    private static RoleAnswer OfUnit(UnitInfoResponse unit)
    {
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

    private static RoleAnswer OfSequencer(SequencerInfoResponse sequencer) => sequencer.IsOk
        ? new RoleAnswer(true, sequencer.Epoch,
            $"{sequencer.Epoch}, tail {sequencer.Tail.Offset}, {sequencer.Streams} streams")
        {
            Tail = sequencer.Tail,
        }
        : new RoleAnswer(true, Epoch.None, "waiting for an epoch");

    private static RoleAnswer OfAcceptor(LayoutResponse acceptor) => acceptor.IsOk
        ? new RoleAnswer(true, acceptor.Latest?.Epoch ?? Epoch.None,
            acceptor.Latest is { } latest ? $"{latest.Epoch}" : "nothing decided")
        : new RoleAnswer(true, Epoch.None, $"answers {acceptor.Status}") { Refusal = $"answers {acceptor.Status}" };
}
