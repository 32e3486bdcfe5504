using Corfu.Sequencer;

namespace Corfu.Hosting;

/// <summary>A sequencer stores nothing: every start is an incarnation of its own (R2, R7).</summary>
internal sealed class SequencerNodeRole : INodeRole
{
    public string Name => nameof(NodeRole.Sequencer);

    public NodeRole Role => NodeRole.Sequencer;

    public bool HasFolder => false;

    public bool IsInProjections => true;

    public void AddRequests(RequestTable table) => SequencerMessages.AddTo(table);

    public Task<RunningRole> OpenAsync(RoleStart start) => Task.FromResult(
        new RunningRole(new SequencerHandler(SystemEntropy.Instance, start.Limits.Sequencer)));

    public async Task<RoleAnswer> ProbeAsync(
        ITransport transport, NodeAddress node, CancellationToken cancellationToken)
    {
        var sequencer = await transport.CallAsync(node, new SequencerInfoRequest(Epoch.None), cancellationToken);
        if (!sequencer.IsOk) return new RoleAnswer(true, Epoch.None, "waiting for an epoch");
        return new RoleAnswer(true, sequencer.Epoch,
            $"{sequencer.Epoch}, tail {sequencer.Tail.Offset}, {sequencer.Streams} streams")
        {
            Tail = sequencer.Tail,
        };
    }

    public string DutyIn(Projection? projection, NodeId id, RoleAnswer answer) =>
        projection?.Sequencer.Id == id && !id.IsNone ? "serving" : "standby";
}
