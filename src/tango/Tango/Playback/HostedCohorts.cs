using Tango.Calls;
using Tango.Model;

namespace Tango.Playback;

/// <summary>
/// The cohorts that are open or being opened, each once. A cohort that is not open for good leaves some time after its
/// last use, sooner where too many stay, and not while it has leases: where no process has it open, none expires. A
/// deleted cohort leaves as soon as nothing depends on it.
/// </summary>
/// <param name="stay">How long an unused cohort stays.</param>
/// <param name="maxUnused">How many unused cohorts stay.</param>
/// <param name="calls">The calls of this runtime.</param>
internal sealed class HostedCohorts(TimeSpan stay, int maxUnused, TimeProvider time, CallBatcher calls)
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

    /// <param name="first">The cohort's first member.</param>
    public bool IsOpen(ObjectId first)
    {
        lock (_gate) return _open.ContainsKey(first);
    }

    public IReadOnlyList<Cohort> ListOpen()
    {
        lock (_gate) return [.. _open.Values];
    }

    /// <summary>Uses the cohort until <see cref="EndUse"/>. A cohort that is not open gets an opening, for which the
    /// caller waits until <see cref="StopWaiting"/>.</summary>
    /// <param name="create">Called under the lock.</param>
    /// <returns>The opening; null: the cohort is open.</returns>
    public CohortOpening? Use(ObjectId first, Func<CohortOpening> create, out Cohort cohort)
    {
        lock (_gate)
        {
            var opening = _open.TryGetValue(first, out var open) ? null : WaitFor(first, create);
            cohort = open ?? opening!.Cohort;
            cohort.Stay.Users++;
            Keep(cohort);
            return opening;
        }
    }

    /// <summary>The opening that rebuilds an open cohort; the caller waits for it until
    /// <see cref="StopWaiting"/>.</summary>
    /// <param name="create">Called under the lock.</param>
    public CohortOpening Reopen(ObjectId first, Func<CohortOpening> create)
    {
        lock (_gate) return WaitFor(first, create);
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

    /// <summary>As <see cref="EndUse"/>, and the cohort stays as long as the runtime lives.</summary>
    public void StayForGood(Cohort cohort)
    {
        lock (_gate) cohort.Stay.IsForGood = true;
        EndUse(cohort);
    }

    /// <summary>An opening for which no caller waits is given up.</summary>
    public void StopWaiting(CohortOpening opening)
    {
        lock (_gate)
        {
            if (--opening.Waiters == 0 && opening.TryGiveUp()) Remove(opening);
        }
    }

    /// <param name="isOpen">False: the opening has failed.</param>
    public void End(CohortOpening opening, bool isOpen)
    {
        lock (_gate)
        {
            Remove(opening);
            if (!isOpen) return;
            _open[opening.Cohort.Objects[0].Id] = opening.Cohort;
            // The cohort may have been deleted since it joined, or before.
            LetGoIfDeleted(opening.Cohort);
            LetGoIfUnused(opening.Cohort);
        }
    }

    /// <summary>Within a cycle of the player, in which the cohort was deleted.</summary>
    public void OnDeleted(Cohort cohort)
    {
        lock (_gate) LetGoIfDeleted(cohort);
    }

    /// <summary>Within a cycle of the player: the cohorts that leave now. A cohort stays while a decision about it is
    /// awaited (R20). A deleted one needs no users to be gone: what they hold of it says so.</summary>
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
                if (cohort.Objects.Any(static member => member.HasLeases)) StayLonger(node);
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

        return leaving;

        // A cohort that is played anew joins again.
        bool MayLeave(Cohort cohort) =>
            !_running.ContainsKey(cohort.Objects[0].Id) && !commits.Concerns(cohort);
    }

    private CohortOpening WaitFor(ObjectId first, Func<CohortOpening> create)
    {
        if (!_running.TryGetValue(first, out var opening)) _running.Add(first, opening = create());
        opening.Waiters++;
        return opening;
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

    private void Remove(CohortOpening opening)
    {
        var id = opening.Cohort.Objects[0].Id;
        if (_running.GetValueOrDefault(id) == opening) _running.Remove(id);
    }
}
