using Corfu;
using Tango.Calls;

namespace Tango.Playback;

/// <summary>
/// The cohorts that are open or being opened, each once. Openings do not wait for each other; callers who open the same
/// cohort share one, which ends when all of them are cancelled. A cohort that is not open for good leaves some time
/// after its last use, sooner where too many stay, and not while it has leases: where no process has it open, none
/// expires. One that was deleted leaves as soon as nothing depends on it.
/// </summary>
/// <param name="typeOf">Null: a member of that type is played without a view.</param>
/// <param name="stay">How long an unused cohort stays.</param>
/// <param name="maxUnused">How many unused cohorts stay.</param>
/// <param name="hasLeases">Called under the lock.</param>
/// <param name="loops">Context in which openings run, for all their callers.</param>
/// <param name="calls">Calls of this runtime.</param>
/// <param name="opened">Called before those who open the cohort are answered.</param>
/// <param name="left">Called within the cycle in which the cohort leaves.</param>
internal sealed class CohortOpenings(
    Func<DirectoryEntry, TangoObjectType?> typeOf, Func<Cohort, CohortOpening> create, TimeSpan stay, int maxUnused,
    Func<Cohort, bool> hasLeases, TimeProvider time, LoopContext loops, CallBatcher calls,
    Action<Cohort> opened, Action<Cohort> left)
{
    private readonly Lock _gate = new();

    // Guarded by _gate; by first member.
    private readonly Dictionary<ObjectId, Cohort> _open = [];
    private readonly Dictionary<ObjectId, CohortOpening> _running = [];

    // Guarded by _gate; the one that was used first is first. Invariant: all are in _open, have no users, and are not
    // open for good.
    private readonly LinkedList<Cohort> _unused = [];

    // Guarded by _gate. Invariant: all are in _open, and none in _unused.
    private readonly List<Cohort> _deleted = [];

    /// <summary>Opens the cohort for good.</summary>
    public async ValueTask<Cohort> OpenAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        var cohort = await UseAsync(members, cancellationToken);
        lock (_gate) cohort.Stay.IsForGood = true;
        EndUse(cohort);
        return cohort;
    }

    /// <summary>Opens the cohort if it is not open. It stays until <see cref="EndUse"/>, and a while longer.</summary>
    public ValueTask<Cohort> UseAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        CohortOpening opening;
        lock (_gate)
        {
            if (_open.TryGetValue(members[0].Id, out var open))
            {
                Use(open);
                return new ValueTask<Cohort>(open);
            }

            if (!_running.TryGetValue(members[0].Id, out opening!))
                opening = Create(new Cohort(members, typeOf));
            opening.Waiters++;
            Use(opening.Cohort);
        }

        return UseAsync(opening, cancellationToken);
    }

    public void EndUse(Cohort cohort)
    {
        lock (_gate)
        {
            cohort.Stay.Users--;
            cohort.Stay.UnusedSince = time.GetTimestamp();
            LetGoIfUnused(cohort);
        }
    }

    /// <summary>Within a cycle of the player, in which the cohort was deleted.</summary>
    public void OnDeleted(Cohort cohort)
    {
        lock (_gate) LetGoIfDeleted(cohort);
    }

    /// <summary>Within a cycle of the player: the cohorts that leave now. R20: a cohort stays while a decision about it
    /// is awaited. One that was deleted needs no users to be gone: what they hold of it says so.</summary>
    public IReadOnlyList<Cohort> TakeUnused(Commits commits)
    {
        List<Cohort> leaving = [];
        lock (_gate)
        {
            if (_unused.Count + _deleted.Count == 0) return [];
            var last = _unused.Last;
            for (var node = _unused.First; node is not null;)
            {
                var (cohort, next) = (node.Value, node == last ? null : node.Next);
                var isAbove = _unused.Count - leaving.Count > maxUnused;
                if (!isAbove && time.GetElapsedTime(cohort.Stay.UnusedSince) < stay) break;
                if (hasLeases(cohort)) StayLonger(node);
                else if (MayLeave(cohort)) leaving.Add(cohort);
                node = next;
            }

            leaving.AddRange(_deleted.Where(
                cohort => calls.AreAnswered(cohort.Stay.LastCall!.Value) && MayLeave(cohort)));
            foreach (var cohort in leaving)
            {
                Keep(cohort);
                _open.Remove(cohort.Objects[0].Id);
            }

            if (_deleted.Count > 0) _deleted.RemoveAll(cohort => !IsOpen(cohort));
        }

        leaving.ForEach(left);
        return leaving;

        // A cohort that is played anew joins again.
        bool MayLeave(Cohort cohort) =>
            !_running.ContainsKey(cohort.Objects[0].Id) && !commits.Concerns(cohort);
    }

    /// <param name="first">The cohort's first member.</param>
    public bool IsOpen(ObjectId first)
    {
        lock (_gate) return _open.ContainsKey(first);
    }

    public IReadOnlyList<Cohort> ListOpen()
    {
        lock (_gate) return [.. _open.Values];
    }

    /// <summary>Plays an open cohort anew from its checkpoint, or from the beginning: the result takes the place of
    /// what has stopped (R23).</summary>
    public async ValueTask RebuildAsync(Cohort cohort, CancellationToken cancellationToken)
    {
        CohortOpening opening;
        lock (_gate)
        {
            if (!_running.TryGetValue(cohort.Objects[0].Id, out opening!)) opening = Create(cohort);
            opening.Waiters++;
        }

        await WaitAsync(opening, cancellationToken);
    }

    private CohortOpening Create(Cohort cohort)
    {
        var opening = create(cohort);
        _running.Add(cohort.Objects[0].Id, opening);
        return opening;
    }

    private async ValueTask<Cohort> UseAsync(CohortOpening opening, CancellationToken cancellationToken)
    {
        try
        {
            return await WaitAsync(opening, cancellationToken);
        }
        catch
        {
            EndUse(opening.Cohort);
            throw;
        }
    }

    private void Use(Cohort cohort)
    {
        cohort.Stay.Users++;
        Keep(cohort);
    }

    private void Keep(Cohort cohort)
    {
        if (cohort.Stay.Unused is not { } node) return;
        _unused.Remove(node);
        cohort.Stay.Unused = null;
    }

    private void StayLonger(LinkedListNode<Cohort> node)
    {
        node.Value.Stay.UnusedSince = time.GetTimestamp();
        _unused.Remove(node);
        _unused.AddLast(node);
    }

    private void LetGoIfUnused(Cohort cohort)
    {
        if (cohort.Stay is not { Users: 0, IsForGood: false, Unused: null, LastCall: null }) return;
        if (IsOpen(cohort)) cohort.Stay.Unused = _unused.AddLast(cohort);
    }

    private void LetGoIfDeleted(Cohort cohort)
    {
        if (cohort.Stay.LastCall is not null || cohort.Objects[0].Stopped is not { IsDeletion: true }
            || !IsOpen(cohort))
            return;
        Keep(cohort);
        cohort.Stay.LastCall = calls.CountAccepted();
        _deleted.Add(cohort);
    }

    private bool IsOpen(Cohort cohort) => _open.GetValueOrDefault(cohort.Objects[0].Id) == cohort;

    private async ValueTask<Cohort> WaitAsync(CohortOpening opening, CancellationToken cancellationToken)
    {
        if (opening.TryStart()) loops.Start(() => RunAsync(opening));
        try
        {
            await opening.Done.WaitAsync(cancellationToken);
            return opening.Cohort;
        }
        finally
        {
            Leave(opening);
        }
    }

    private void Leave(CohortOpening opening)
    {
        lock (_gate)
        {
            if (--opening.Waiters == 0 && opening.TryGiveUp()) Remove(opening);
        }
    }

    private async Task RunAsync(CohortOpening opening)
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
                _open[opening.Cohort.Objects[0].Id] = opening.Cohort;
                // The cohort may have been deleted since it joined, or before.
                LetGoIfDeleted(opening.Cohort);
                LetGoIfUnused(opening.Cohort);
            }
        }

        try
        {
            if (reason is null) opened(opening.Cohort);
        }
        finally
        {
            opening.End(reason);
        }
    }

    private void Remove(CohortOpening opening)
    {
        var id = opening.Cohort.Objects[0].Id;
        if (_running.GetValueOrDefault(id) == opening) _running.Remove(id);
    }
}
