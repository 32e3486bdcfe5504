namespace Corfu.Client;

/// <summary>Step 2 of a reconfiguration (TOCS 2.5): seals in parallel, each repeated until it is answered; done when
/// every first survivor (R13) and a unit of each new chain have answered.</summary>
/// <param name="undecided">Units may be sealed up to here, though nothing beyond the current epoch is decided.</param>
internal sealed class SealRound(ITransport transport, TimeProvider time, ReconfigurerOptions options,
    Projection current, Epoch next, Epoch undecided = default)
{
    private static readonly TimeSpan s_retryDelay = TimeSpan.FromMilliseconds(20);

    // R13: units without whose answer nothing is proposed.
    private readonly HashSet<NodeId> _missing = [];

    // R14: chains of the new segment of which no unit has answered. Made of units that are all gone, such a chain would
    // have no survivor in any later epoch.
    private readonly List<Chain> _silent = [];

    private readonly HashSet<NodeId> _new = [];

    // Units that deny the seal; none of them is asked again.
    private readonly HashSet<NodeId> _denied = [];
    private readonly Dictionary<NodeId, string> _trouble = [];

    /// <summary>The position after the highest that any unit has reported.</summary>
    public LogPosition End { get; private set; }

    public LogPosition TrimMark { get; private set; }

    /// <summary>The epoch that a unit is sealed to, where that is beyond the next one.</summary>
    public Epoch Superseded { get; private set; }

    /// <summary>Another source knows that positions below this may have been written.</summary>
    public void Raise(LogPosition end) => End = LogPosition.Max(End, end);

    /// <summary>False when a unit is sealed beyond the next epoch: <see cref="Superseded"/>.</summary>
    /// <exception cref="ReconfigurationException">A first survivor, or all of a new chain, did not answer.</exception>
    /// <exception cref="CorfuDeniedException">The units among those that answered deny this side the right to
    /// seal.</exception>
    public async ValueTask<bool> RunAsync(Membership membership, CancellationToken cancellationToken)
    {
        var units = Collect(membership);
        var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        try
        {
            var timeout = Task.Delay(options.RoundTimeout, time, stop.Token);
            var calls = units.ConvertAll(u => SealAsync(AddressOf(membership, u), TimeSpan.Zero, stop.Token));
            while (_missing.Count + _silent.Count > 0)
            {
                var ended = await Task.WhenAny([.. calls, timeout]);
                cancellationToken.ThrowIfCancellationRequested();
                if (ended is not Task<(NodeAddress, SealResponse?, string?)> call) throw TimedOut();
                calls.Remove(call);
                var (unit, response, trouble) = await call;
                if (response?.Status == Status.Sealed)
                {
                    Superseded = response.Epoch > next ? response.Epoch : next.Next;
                    return false;
                }

                if (response is { IsOk: true })
                {
                    Accept(unit.Id, response);
                    continue;
                }

                if (response is { Status: Status.Denied })
                {
                    _denied.Add(unit.Id);
                    if (!CanEnd) throw CorfuStatusException.Create(Status.Denied, $"Sealing unit {unit}");
                    continue;
                }

                _trouble[unit.Id] = trouble ?? $"it says {response!.Status}";
                calls.Add(SealAsync(unit, s_retryDelay, stop.Token));
            }

            return true;
        }
        finally
        {
            Waiting.CancelLaterAsync(stop).Abandon();
        }
    }

    // False: units without whose answer the round does not end have denied it.
    private bool CanEnd => !_missing.Overlaps(_denied)
        && !_silent.Exists(c => c.Replicas.All(r => _denied.Contains(r.Unit)));

    /// <summary>The units to seal; those without whose answer nothing is proposed are in _missing.</summary>
    private List<NodeId> Collect(Membership membership)
    {
        var units = new List<NodeId>();
        for (var i = 0; i < current.Segments.Length; i++)
        {
            var active = i == current.Segments.Length - 1;
            var pairs = ChainLists.Pairs(current.Segments[i].Chains, membership.Segments[i].Chains);
            foreach (var (chain, successor) in pairs.Where(p => active || !p.Old.Equals(p.New)))
            {
                units.AddRange(chain.Replicas.Select(r => r.Unit));

                // Full replicas that stay keep their order (MembershipRules), so the new chain's head is the first
                // survivor.
                var survivor = successor.Head;
                if (Planted.Is("seal-any-replica")) survivor = successor.Tail;
                _missing.Add(survivor);
            }
        }

        // R2: new units are sealed too, so that nothing of an epoch that they may have been in before can reach them
        // once they have been found empty.
        _new.UnionWith(membership.Units.Select(u => u.Id).Where(u => !current.HasUnit(u)));
        _missing.UnionWith(_new);
        if (membership.NextChains is { } chains) _silent.AddRange(chains);

        // R14's override puts units at the head of chains that they have not been in.
        units.AddRange(_missing.Order());
        units.AddRange(_silent.SelectMany(c => c.Replicas).Select(r => r.Unit));
        return [.. units.Distinct()];
    }

    private async Task<(NodeAddress Unit, SealResponse? Response, string? Trouble)> SealAsync(
        NodeAddress unit, TimeSpan pause, CancellationToken cancellationToken)
    {
        try
        {
            if (pause > TimeSpan.Zero) await Task.Delay(pause, time, cancellationToken);
            var response = await CallAsync(transport, unit, current, next, cancellationToken);

            // The seal of a higher epoch refuses all that this one would.
            if (response.Status == Status.Sealed && response.Epoch <= undecided)
                response = await transport.CallAsync(unit, new SealRequest(response.Epoch), cancellationToken);
            return (unit, response, null);
        }
        catch (TransportException e)
        {
            return (unit, null, e.Message);
        }
    }

    /// <summary>Seals one unit. A unit that was away installs the current epoch first (R14).</summary>
    public static async ValueTask<SealResponse> CallAsync(
        ITransport transport, NodeAddress unit, Projection current, Epoch next, CancellationToken cancellationToken)
    {
        var response = await transport.CallAsync(unit, new SealRequest(next), cancellationToken);
        if (response.Status != Status.NotInstalled) return response;
        await transport.CallAsync(unit, new InstallRequest(current), cancellationToken);
        await transport.CallAsync(unit, new SealRequest(current.Epoch.Next), cancellationToken);
        return await transport.CallAsync(unit, new SealRequest(next), cancellationToken);
    }

    private void Accept(NodeId unit, SealResponse response)
    {
        var used = _new.Contains(unit) && response.End > LogPosition.Zero;
        if (used && !Planted.Is("removed-units-return"))
            throw new ReconfigurationException(
                $"Unit {unit} has been used before: a unit that joins is freshly formatted (R2).");
        if (!_new.Contains(unit))
        {
            End = LogPosition.Max(End, response.End);
            TrimMark = LogPosition.Max(TrimMark, response.TrimMark);
        }

        _missing.Remove(unit);
        _silent.RemoveAll(c => c.Replicas.Any(r => r.Unit == unit));
    }

    private ReconfigurationException TimedOut()
    {
        if (_missing.Count > 0)
            return new ReconfigurationException(
                $"Unit {Trouble(_missing.Min())} must be sealed before {next} and cannot be. Remove it, or wait for "
                + "it.");
        var units = string.Join(", ", _silent[0].Replicas.Select(r => Trouble(r.Unit)));
        return new ReconfigurationException(
            $"A chain for new entries would have no unit that answers: {units}. Remove them, or wait for them.");
    }

    private string Trouble(NodeId unit) => $"{unit} ({_trouble.GetValueOrDefault(unit, "it did not answer in time")})";

    private NodeAddress AddressOf(Membership membership, NodeId unit) =>
        membership.Units.FirstOrDefault(a => a.Id == unit) is { Id.IsNone: false } known
            ? known
            : current.AddressOf(unit);
}
