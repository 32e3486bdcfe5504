using Corfu.Agent;
using V1 = Corfu.Grpc.Protocol.Admin.V1;

namespace Corfu.Grpc;

/// <summary>A change of the cluster under way.</summary>
/// <param name="Progress">Progress of the change's long part; null: it has none.</param>
internal sealed record AdminChange(Task<Projection> Work, Func<RebuildProgress>? Progress)
{
    public static AdminChange Start(
        OperatorSession session, V1.ReconfigureRequest request, CancellationToken stop)
    {
        switch (request.ChangeCase)
        {
            case V1.ReconfigureRequest.ChangeOneofCase.AddUnits:
                return new AdminChange(AddUnitsAsync(session, request.AddUnits, stop), null);
            case V1.ReconfigureRequest.ChangeOneofCase.RemoveUnit:
                var leaving = session.NewRebuilder();
                return new AdminChange(
                    session.LeaveAsync(
                        session.UnitOf(request.RemoveUnit.Unit), [], leaving, static () => Task.CompletedTask, stop),
                    () => leaving.Progress);
            case V1.ReconfigureRequest.ChangeOneofCase.ReplaceUnit:
                var replacing = session.NewRebuilder();
                return new AdminChange(
                    ReplaceUnitAsync(session, request.ReplaceUnit, replacing, stop), () => replacing.Progress);
            case V1.ReconfigureRequest.ChangeOneofCase.ReplaceSequencer:
                return new AdminChange(ReplaceSequencerAsync(session, request.ReplaceSequencer, stop), null);
            case V1.ReconfigureRequest.ChangeOneofCase.SetReplicas:
                var migrator = session.NewMigrator();
                var replicas = request.SetReplicas.Replicas;
                return new AdminChange(
                    session.Operations.SetReplicasAsync(
                        replicas, migrator, session.Reason($"{replicas} replicas"), stop),
                    () => migrator.Progress);
            case V1.ReconfigureRequest.ChangeOneofCase.SetAcceptors:
                return new AdminChange(SetAcceptorsAsync(session, request.SetAcceptors, stop), null);
            case V1.ReconfigureRequest.ChangeOneofCase.SetAutomatic:
                return new AdminChange(SetAutomaticAsync(session, request.SetAutomatic, stop), null);
            default:
                throw new RequestException("change is missing.");
        }
    }

    private static async Task<Projection> AddUnitsAsync(
        OperatorSession session, V1.AddUnits request, CancellationToken stop)
    {
        var added = await FindAllAsync(session, request.Endpoints, NodeRole.Unit, stop);
        return await session.Operations.AddUnitsAsync(added, session.Reason("units added"), stop);
    }

    private static async Task<Projection> ReplaceUnitAsync(
        OperatorSession session, V1.ReplaceUnit request, Rebuilder rebuilder, CancellationToken stop)
    {
        var old = session.UnitOf(request.Unit);
        var others = request.ByEndpoint.Length > 0
            ? await FindAllAsync(session, [request.ByEndpoint], NodeRole.Unit, stop)
            : await session.WaitingAsync(NodeDuty.Spare, NodeRole.Unit, stop);
        if (others.IsEmpty) throw new OperatorFaultException("There is no spare: name the unit that takes its place.");
        return await session.LeaveAsync(old, others, rebuilder, static () => Task.CompletedTask, stop);
    }

    private static async Task<Projection> ReplaceSequencerAsync(
        OperatorSession session, V1.ReplaceSequencer request, CancellationToken stop)
    {
        var others = request.ByEndpoint.Length > 0
            ? await FindAllAsync(session, [request.ByEndpoint], NodeRole.Sequencer, stop)
            : await session.WaitingAsync(NodeDuty.Standby, NodeRole.Sequencer, stop);
        if (others.IsEmpty)
            throw new OperatorFaultException("There is no standby: name the sequencer that takes over.");
        return await session.Operations.ReplaceSequencerAsync(
            session.Cluster.Projection.Sequencer.Id, others, session.Reason("sequencer replaced"), stop);
    }

    private static async Task<Projection> SetAcceptorsAsync(
        OperatorSession session, V1.SetAcceptors request, CancellationToken stop)
    {
        var found = await FindAllAsync(session, request.Endpoints, NodeRole.Acceptor, stop);
        return await session.Operations.SetAcceptorsAsync(found, session.Reason("other acceptors"), stop);
    }

    private static async Task<Projection> SetAutomaticAsync(
        OperatorSession session, V1.SetAutomatic request, CancellationToken stop)
    {
        await session.SetAutomaticAsync(request.On, stop);
        return session.Cluster.Projection;
    }

    private static async Task<ImmutableArray<NodeAddress>> FindAllAsync(
        OperatorSession session, IReadOnlyCollection<string> endpoints, NodeRole role, CancellationToken stop)
    {
        if (endpoints.Count == 0) throw new RequestException("endpoints is empty.");
        var found = ImmutableArray.CreateBuilder<NodeAddress>();
        foreach (var text in endpoints)
        {
            found.Add(NodeEndpoint.TryParse(text, out var endpoint)
                ? await session.FindAsync(endpoint, role, stop)
                : throw new RequestException($"'{text}' is no host:port."));
        }

        return found.DrainToImmutable();
    }
}
