using Corfu.ModelCheck.Nodes;
using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.ModelCheck.Traces;

/// <summary>
/// Follows a run of the simulator, and refuses it at the first step of a process that the model's processes cannot
/// take, knowing what this process knows. So the search's answers hold for the product, and not for its model alone.
/// </summary>
public sealed class TraceCheck : ICallObserver
{
    // The simulator's wild clients send what no protocol has them send.
    private const long Wild = 1L << 32;
    private const long WildEpoch = MessageLimits.EpochReach;

    private readonly Dictionary<int, Knowledge> _known = [];
    private readonly DecidedProjections _projections = new();
    private readonly Dictionary<(long Position, Epoch Epoch), int> _grants = [];

    /// <summary>The first step that was refused, in words for people; null: none.</summary>
    public string? Refusal { get; private set; }

    /// <summary>Steps that were found in the model.</summary>
    public long Steps { get; private set; }

    public void Follow(SimCluster cluster)
    {
        cluster.Network.Calls = this;
        cluster.Monitor.AppendTold = Acknowledged;
        cluster.Monitor.ReadTold = Shown;
    }

    public void Sent(SimProcess caller, NodeId to, Request request)
    {
        if (Refusal is not null) return;
        var known = KnownTo(caller);
        known.Sent(request);
        if (IsAllowed(known, to, request) is not { } isAllowed) return;
        if (isAllowed) Steps++;
        else Refusal = $"{caller.Name} sends {Names.Of(request)} to {Names.Of(to)}";
    }

    public void Answered(SimProcess caller, NodeId to, Request request, Response response)
    {
        if (Refusal is not null) return;
        KnownTo(caller).Take(to, request, response);
        switch (request, response)
        {
            case (TokenRequest token, TokenResponse { IsOk: true } granted):
                for (var i = 0; i < token.Count; i++)
                    _grants[(granted.First.Offset + i, token.Epoch)] = caller.Id;
                break;
            case (AcceptRequest accept, LayoutResponse { IsOk: true }):
                if (!_projections.Accepted(to, accept.Ballot, accept.Value))
                    Refusal = $"{caller.Name} decides {Names.Of(accept.Value)}, and its epoch is decided as another";
                break;
        }
    }

    /// <summary>A client was told that its append is in the log.</summary>
    public void Acknowledged(LogPosition position, EntryOrigin origin)
    {
        if (Refusal is not null || !_grants.TryGetValue((position.Offset, position.Epoch), out var writer)) return;
        var known = _known[writer];
        if (known.IsDamaged(position.Offset) || known.IsTrimmed(position.Offset)) return;
        if (new ClientReplay(known, _projections).MayAcknowledge(position, origin)) Steps++;
        else Refusal = $"{Names.Of(origin)} at {position} is acknowledged";
    }

    /// <summary>A reader was shown a value: some process has it from the chain's tail (R11).</summary>
    public void Shown(LogPosition position)
    {
        if (Refusal is not null || _known.Values.Any(known => known.IsDamaged(position.Offset))) return;
        if (_known.Values.Any(known => new ClientReplay(known, _projections).MayShow(position))) Steps++;
        else Refusal = $"{position} is shown to a reader";
    }

    /// <returns>Null: the request changes nothing, or the model has none like it.</returns>
    private bool? IsAllowed(Knowledge known, NodeId to, Request request) => request switch
    {
        // The model has no stolen keys: no process takes these.
        AcceptRequest { Value.Reason: SimCluster.Forged } => null,
        DecidedRequest { Value.Reason: SimCluster.Forged } => null,
        InstallRequest { Projection.Reason: SimCluster.Forged } => null,
        BootstrapRequest { Projection.Reason: SimCluster.Forged } => null,
        EntryRequest entry => MaySend(known, to, entry),
        CompleteManyRequest many =>
            many.Entries.All(e => MaySend(known, to, new CompleteRequest(many.Epoch, e)) is not false),
        AcceptRequest accept => new ReconfigurerReplay(known, _projections).MayPropose(accept),
        DecidedRequest decided => IsDecided(decided.Value),
        InstallRequest install => IsDecided(install.Projection),
        BootstrapRequest bootstrap => IsDecided(bootstrap.Projection),
        _ => null,
    };

    private bool? MaySend(Knowledge known, NodeId to, EntryRequest request)
    {
        var position = EntryCodec.PeekPosition(request.Entry.Span).Offset;
        if (position >= Wild || known.IsDamaged(position)) return null;
        if (new ClientReplay(known, _projections).MaySend(to, request)) return true;
        return request is CompleteRequest copy && new ReconfigurerReplay(known, _projections).MayCopy(to, copy);
    }

    private bool? IsDecided(Projection projection)
    {
        if (projection.Epoch == Epoch.First) _projections.Found(projection);
        return projection.Epoch.Value > WildEpoch ? null : _projections.IsDecided(projection);
    }

    private Knowledge KnownTo(SimProcess process)
    {
        if (!_known.TryGetValue(process.Id, out var known)) _known[process.Id] = known = new Knowledge();
        return known;
    }
}
