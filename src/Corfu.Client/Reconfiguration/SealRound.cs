using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>
/// The first step of a reconfiguration (TOCS 2.5): seals in parallel, done when every first survivor has answered
/// (R13), and somebody of each new chain.
/// </summary>
/// <param name="undecided">Units may be sealed up to here, though the layout knows that nothing beyond the current
/// epoch is decided.</param>
internal sealed class SealRound(
    ITransport transport, TimeProvider time, ReconfigurerOptions options, Projection current, Epoch next,
    Epoch undecided = default)
{
    private readonly Lock _gate = new();

    // Guarded by _gate, all of it. R13: those without whose answer nothing is proposed.
    private readonly HashSet<NodeId> _missing = [];

    // Chains of the new segment of which nobody has answered. Put together of units that are all gone, one would have
    // no survivor in any later epoch (R14).
    private readonly List<Chain> _silent = [];
    private readonly HashSet<NodeId> _new = [];
    private readonly Dictionary<NodeId, string> _trouble = [];
    private NodeId _used;
    private LogPosition _end;
    private LogPosition _mark;
    private Epoch _superseded;
    private TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>One above the highest position that any unit has reported.</summary>
    public LogPosition End => _end;

    public LogPosition TrimMark => _mark;

    /// <summary>The epoch that a unit is sealed to, where that is beyond the next one.</summary>
    public Epoch Superseded => _superseded;

    /// <summary>Something else than a unit knows that positions below this may have been written.</summary>
    public void Raise(LogPosition end)
    {
        lock (_gate) _end = LogPosition.Max(_end, end);
    }

    /// <summary>False when a higher epoch is already being prepared or decided: look again.</summary>
    /// <exception cref="ReconfigurationException">A first survivor did not answer, or nobody of a new
    /// chain.</exception>
    public async ValueTask<bool> RunAsync(Membership membership, CancellationToken cancellationToken)
    {
        var units = Collect(membership);
        var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        foreach (var unit in units) _ = SealAsync(AddressOf(membership, unit), stop.Token);
        try
        {
            return await WaitAsync(cancellationToken);
        }
        finally
        {
            LeaveAsync(stop).Abandon();
        }
    }

    // Whoever still asks ends with an exception, for which the reconfiguration need not wait.
    private static async Task LeaveAsync(CancellationTokenSource stop)
    {
        await Task.Yield();
        stop.Cancel();
        stop.Dispose();
    }

    /// <summary>Who is sealed; those without whose answer nothing is proposed are in _missing.</summary>
    private List<NodeId> Collect(Membership membership)
    {
        var units = new List<NodeId>();
        for (var i = 0; i < current.Segments.Length; i++)
        {
            var active = i == current.Segments.Length - 1;
            foreach (
                var (chain, successor) in ChainLists.Pairs(current.Segments[i].Chains, membership.Segments[i].Chains))
            {
                if (!active && chain.Equals(successor)) continue;
                foreach (var replica in chain.Replicas)
                {
                    if (!units.Contains(replica.Unit)) units.Add(replica.Unit);
                }

                // Full replicas that stay keep their order (MembershipRules), so the new chain's head is the first
                // survivor.
                _missing.Add(successor.Head);
#if PLANTED
                if (Planted.Is("seal-any-replica"))
                {
                    _missing.Remove(successor.Head);
                    _missing.Add(successor.Tail);
                }
#endif
            }
        }

        foreach (var unit in membership.Units)
        {
            if (current.HasUnit(unit.Id)) continue;

            // R2: sealed too, so that nothing of an epoch that it may have been in before can reach it once it has been
            // found empty.
            _new.Add(unit.Id);
            _missing.Add(unit.Id);
            units.Add(unit.Id);
        }

        if (membership.NextChains is { } chains) _silent.AddRange(chains);

        // R14's override puts units at the head of chains that they have not been in.
        foreach (var unit in _missing.Order().Concat(_silent.SelectMany(c => c.Replicas).Select(r => r.Unit)))
        {
            if (!units.Contains(unit)) units.Add(unit);
        }

        return units;
    }

    private async ValueTask<bool> WaitAsync(CancellationToken cancellationToken)
    {
        var began = time.GetTimestamp();
        while (true)
        {
            Task changed;
            lock (_gate)
            {
                if (_superseded > next) return false;
                if (!_used.IsNone)
                    throw new ReconfigurationException(
                        $"Unit {_used} has been used before: whoever joins is freshly formatted (R2).");
                if (_missing.Count == 0 && _silent.Count == 0) return true;
                changed = _changed.Task;
            }

            var left = options.RoundTimeout - time.GetElapsedTime(began);
            if (left <= TimeSpan.Zero)
            {
                if (Failure() is { } failure) throw failure;
                continue;
            }

            // Delays are whole milliseconds, rounded down: the rest of one would be no delay at all, and this a busy
            // loop.
            var pause = TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds));
            await Task.WhenAny(changed, Task.Delay(pause, time, cancellationToken));
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    // Null when the last answer has come just now.
    private ReconfigurationException? Failure()
    {
        lock (_gate)
        {
            if (_missing.Count > 0)
                return new ReconfigurationException(
                    $"Unit {Trouble(_missing.Order().First())} must be sealed before {next} and cannot be. Remove "
                    + "it, or wait for it.");
            if (_silent.Count == 0) return null;
            var units = string.Join(", ", _silent[0].Replicas.Select(r => Trouble(r.Unit)));
            return new ReconfigurationException(
                $"A chain for new entries would have no unit that answers: {units}. Remove them, or wait for them.");
        }
    }

    // Guarded by the caller.
    private string Trouble(NodeId unit) => $"{unit} ({_trouble.GetValueOrDefault(unit, "it did not answer in time")})";

    private async Task SealAsync(NodeAddress unit, CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                if (Take(unit.Id, await SealOnceAsync(unit, cancellationToken))) return;
                await Task.Delay(options.RetryDelay, time, cancellationToken);
            }
            catch (TransportException e)
            {
                lock (_gate) _trouble[unit.Id] = e.Message;
                try
                {
                    await Task.Delay(options.RetryDelay, time, cancellationToken);
                }
                catch (OperationCanceledException)
                {
                    return;
                }
            }
            catch (OperationCanceledException)
            {
                return;
            }
        }
    }

    /// <summary>Seals one unit. Units seal one epoch at a time: one that was away installs the current one first
    /// (R14).</summary>
    public static async ValueTask<SealResponse> CallAsync(
        ITransport transport, NodeAddress unit, Projection current, Epoch next, CancellationToken cancellationToken)
    {
        var response = await transport.CallAsync(unit, new SealRequest(next), cancellationToken);
        if (response.Status != Status.NotInstalled) return response;
        await transport.CallAsync(unit, new InstallRequest(current), cancellationToken);
        await transport.CallAsync(unit, new SealRequest(current.Epoch.Next), cancellationToken);
        return await transport.CallAsync(unit, new SealRequest(next), cancellationToken);
    }

    private async ValueTask<SealResponse> SealOnceAsync(NodeAddress unit, CancellationToken cancellationToken)
    {
        var response = await CallAsync(transport, unit, current, next, cancellationToken);
        // The seal of a higher epoch refuses all that this one would.
        return response.Status == Status.Sealed && response.Epoch <= undecided
            ? await transport.CallAsync(unit, new SealRequest(response.Epoch), cancellationToken)
            : response;
    }

    private bool Take(NodeId unit, SealResponse response)
    {
        TaskCompletionSource changed;
        lock (_gate)
        {
            if (response.IsOk && _new.Contains(unit))
            {
                if (response.End > LogPosition.Zero) _used = unit;
#if PLANTED
                if (Planted.Is("removed-units-return")) _used = NodeId.None;
#endif
                _missing.Remove(unit);
            }
            else if (response.IsOk)
            {
                _end = LogPosition.Max(_end, response.End);
                _mark = LogPosition.Max(_mark, response.TrimMark);
                _missing.Remove(unit);
            }
            else if (response.Status == Status.Sealed)
            {
                var epoch = response.Epoch > next ? response.Epoch : next.Next;
                if (epoch > _superseded) _superseded = epoch;
            }
            else
            {
                _trouble[unit] = $"it says {response.Status}";
                return false;
            }

            _silent.RemoveAll(c => c.Replicas.Any(r => r.Unit == unit));
            changed = _changed;
            _changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        changed.SetResult();
        return true;
    }

    private NodeAddress AddressOf(Membership membership, NodeId unit)
    {
        foreach (var address in membership.Units)
        {
            if (address.Id == unit) return address;
        }

        return current.AddressOf(unit);
    }
}
