using Corfu.Protocol;
using Tango.Calls;

namespace Tango.Playback;

/// <summary>
/// The units that are open or being opened, each once. Openings do not wait for each other; callers who open the same
/// unit share one, which ends when all of them are cancelled. A unit that is not open for good leaves some time after
/// its last use, sooner where too many stay, and not while it has leases: where no process has it open, none expires.
/// One that was deleted leaves as soon as nothing depends on it.
/// </summary>
/// <param name="typeOf">Null: a member of that type is played without a view.</param>
/// <param name="stay">How long an unused unit stays.</param>
/// <param name="maxUnused">How many unused units stay.</param>
/// <param name="hasLeases">Called under the lock.</param>
/// <param name="loops">Where openings run, for all their callers.</param>
/// <param name="calls">Of this runtime.</param>
/// <param name="opened">Called before those who open the unit are answered.</param>
/// <param name="left">Called within the cycle in which the unit leaves.</param>
internal sealed class UnitOpenings(
    Func<DirectoryEntry, TangoObjectType?> typeOf, Func<HostedUnit, UnitOpening> create, TimeSpan stay, int maxUnused,
    Func<HostedUnit, bool> hasLeases, TimeProvider time, LoopContext loops, CallBatcher calls,
    Action<HostedUnit> opened, Action<HostedUnit> left)
{
    private readonly Lock _gate = new();

    // Guarded by _gate; by first member.
    private readonly Dictionary<ObjectId, HostedUnit> _open = [];
    private readonly Dictionary<ObjectId, UnitOpening> _running = [];

    // Guarded by _gate; the one that was used first is first. Invariant: all are in _open, have no users, and are not
    // open for good.
    private readonly LinkedList<HostedUnit> _unused = [];

    // Guarded by _gate. Invariant: all are in _open, and none in _unused.
    private readonly List<HostedUnit> _deleted = [];

    /// <summary>Opens the unit for good.</summary>
    public async ValueTask<HostedUnit> OpenAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        var unit = await UseAsync(members, cancellationToken);
        lock (_gate) unit.Stay.IsForGood = true;
        EndUse(unit);
        return unit;
    }

    /// <summary>Opens the unit if it is not open. It stays until <see cref="EndUse"/>, and a while longer.</summary>
    public ValueTask<HostedUnit> UseAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        UnitOpening opening;
        lock (_gate)
        {
            if (_open.TryGetValue(members[0].Id, out var open))
            {
                Use(open);
                return new ValueTask<HostedUnit>(open);
            }

            if (!_running.TryGetValue(members[0].Id, out opening!))
                opening = Create(new HostedUnit(members, typeOf));
            opening.Waiters++;
            Use(opening.Unit);
        }

        return UseAsync(opening, cancellationToken);
    }

    public void EndUse(HostedUnit unit)
    {
        lock (_gate)
        {
            unit.Stay.Users--;
            unit.Stay.UnusedSince = time.GetTimestamp();
            LetGoIfUnused(unit);
        }
    }

    /// <summary>Within a cycle of the player, in which the unit was deleted.</summary>
    public void OnDeleted(HostedUnit unit)
    {
        lock (_gate) LetGoIfDeleted(unit);
    }

    /// <summary>Within a cycle of the player: the units that leave now. R20: a unit stays while a decision about it is
    /// awaited. One that was deleted needs no users to be gone: what they hold of it says so.</summary>
    public IReadOnlyList<HostedUnit> TakeUnused(Decisions decisions)
    {
        List<HostedUnit> leaving = [];
        lock (_gate)
        {
            if (_unused.Count + _deleted.Count == 0) return [];
            var last = _unused.Last;
            for (var node = _unused.First; node is not null;)
            {
                var (unit, next) = (node.Value, node == last ? null : node.Next);
                var isAbove = _unused.Count - leaving.Count > maxUnused;
                if (!isAbove && time.GetElapsedTime(unit.Stay.UnusedSince) < stay) break;
                if (hasLeases(unit)) StayLonger(node);
                else if (MayLeave(unit)) leaving.Add(unit);
                node = next;
            }

            leaving.AddRange(_deleted.Where(unit => calls.AreAnswered(unit.Stay.LastCall!.Value) && MayLeave(unit)));
            foreach (var unit in leaving)
            {
                Keep(unit);
                _open.Remove(unit.Objects[0].Id);
            }

            if (_deleted.Count > 0) _deleted.RemoveAll(unit => !IsOpen(unit));
        }

        leaving.ForEach(left);
        return leaving;

        // One that is played anew joins again.
        bool MayLeave(HostedUnit unit) =>
            !_running.ContainsKey(unit.Objects[0].Id) && !decisions.Concerns(unit);
    }

    /// <param name="first">The unit's first member.</param>
    public bool IsOpen(ObjectId first)
    {
        lock (_gate) return _open.ContainsKey(first);
    }

    public IReadOnlyList<HostedUnit> ListOpen()
    {
        lock (_gate) return [.. _open.Values];
    }

    /// <summary>Plays an open unit anew from its checkpoint, or from the beginning: the result takes the place of what
    /// has stopped (R23).</summary>
    public async ValueTask RebuildAsync(HostedUnit unit, CancellationToken cancellationToken)
    {
        UnitOpening opening;
        lock (_gate)
        {
            if (!_running.TryGetValue(unit.Objects[0].Id, out opening!)) opening = Create(unit);
            opening.Waiters++;
        }

        await WaitAsync(opening, cancellationToken);
    }

    private UnitOpening Create(HostedUnit unit)
    {
        var opening = create(unit);
        _running.Add(unit.Objects[0].Id, opening);
        return opening;
    }

    private async ValueTask<HostedUnit> UseAsync(UnitOpening opening, CancellationToken cancellationToken)
    {
        try
        {
            return await WaitAsync(opening, cancellationToken);
        }
        catch
        {
            EndUse(opening.Unit);
            throw;
        }
    }

    private void Use(HostedUnit unit)
    {
        unit.Stay.Users++;
        Keep(unit);
    }

    private void Keep(HostedUnit unit)
    {
        if (unit.Stay.Unused is not { } node) return;
        _unused.Remove(node);
        unit.Stay.Unused = null;
    }

    private void StayLonger(LinkedListNode<HostedUnit> node)
    {
        node.Value.Stay.UnusedSince = time.GetTimestamp();
        _unused.Remove(node);
        _unused.AddLast(node);
    }

    private void LetGoIfUnused(HostedUnit unit)
    {
        if (unit.Stay is not { Users: 0, IsForGood: false, Unused: null, LastCall: null }) return;
        if (IsOpen(unit)) unit.Stay.Unused = _unused.AddLast(unit);
    }

    private void LetGoIfDeleted(HostedUnit unit)
    {
        if (unit.Stay.LastCall is not null || unit.Objects[0].Stopped is not { IsDeletion: true } || !IsOpen(unit))
            return;
        Keep(unit);
        unit.Stay.LastCall = calls.CountAccepted();
        _deleted.Add(unit);
    }

    private bool IsOpen(HostedUnit unit) => _open.GetValueOrDefault(unit.Objects[0].Id) == unit;

    private async ValueTask<HostedUnit> WaitAsync(UnitOpening opening, CancellationToken cancellationToken)
    {
        if (opening.TryStart()) loops.Start(() => RunAsync(opening));
        try
        {
            await opening.Done.WaitAsync(cancellationToken);
            return opening.Unit;
        }
        finally
        {
            Leave(opening);
        }
    }

    private void Leave(UnitOpening opening)
    {
        lock (_gate)
        {
            if (--opening.Waiters == 0 && opening.TryGiveUp()) Remove(opening);
        }
    }

    private async Task RunAsync(UnitOpening opening)
    {
        Exception? reason = null;
        try
        {
            await opening.RunAsync();
        }
        catch (Exception e)
        {
            reason = e;
        }

        lock (_gate)
        {
            Remove(opening);
            if (reason is null)
            {
                _open[opening.Unit.Objects[0].Id] = opening.Unit;
                // It may have been deleted since it joined, or before.
                LetGoIfDeleted(opening.Unit);
                LetGoIfUnused(opening.Unit);
            }
        }

        try
        {
            if (reason is null) opened(opening.Unit);
        }
        finally
        {
            opening.End(reason);
        }
    }

    private void Remove(UnitOpening opening)
    {
        var id = opening.Unit.Objects[0].Id;
        if (_running.GetValueOrDefault(id) == opening) _running.Remove(id);
    }
}
