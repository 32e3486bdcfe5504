using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Salus;

/// <summary>Records the calls of a run's writers. A call whose writer dies has no answer.</summary>
internal sealed class SalusHistory(World world, Ledger ledger)
{
    // By volume, the tenures with their runs.
    private readonly List<List<(long Run, VolumeMount Mount)>> _mounts = [];
    private readonly List<List<(VolumeSnapshot Snapshot, VolumeMount Mount)>> _snapshots = [];

    // By volume, those that were taken and are not deleted.
    private readonly List<List<VolumeSnapshot>> _kept = [];

    // Volumes whose next tenure may begin without writes that were acknowledged.
    private readonly HashSet<int> _mayLose = [];

    // By volume, the records of losses before the newest tenure.
    private readonly List<int> _losses = [];

    /// <summary>A tenure begins.</summary>
    /// <param name="losses">Records of operators who gave up a tail.</param>
    public VolumeMount Mounted(int volume, long run, string by, int losses)
    {
        while (_mounts.Count <= volume)
        {
            _mounts.Add([]);
            _snapshots.Add([]);
            _kept.Add([]);
            _losses.Add(0);
        }

        var mount = new VolumeMount($"run {run} of {by}")
        {
            MayHaveLost = _mayLose.Remove(volume) || losses > _losses[volume],
        };
        _losses[volume] = losses;
        _mounts[volume].Add((run, mount));
        return mount;
    }

    /// <summary>All that proves some writes may be gone. No writer is left.</summary>
    public void MayLose() => _mayLose.UnionWith(Enumerable.Range(0, _mounts.Count));

    public int Begin(VolumeMount mount, VolumeCall call)
    {
        mount.Calls.Add(call);
        return mount.Calls.Count - 1;
    }

    public void End(VolumeMount mount, int place, VolumeFate fate, IReadOnlyList<long>? values = null)
    {
        mount.Calls[place] = mount.Calls[place] with
        {
            End = world.Steps,
            Fate = fate,
            Values = values ?? mount.Calls[place].Values,
        };
        if (fate is VolumeFate.Done or VolumeFate.Placed or VolumeFate.Refused) ledger.Done();
    }

    public VolumeSnapshot Snapped(int volume, VolumeMount mount, string name, int from)
    {
        var snapshot = new VolumeSnapshot(name, 0, from, mount.Calls.Count);
        _snapshots[volume].Add((snapshot, mount));
        _kept[volume].Add(snapshot);
        return snapshot;
    }

    public IReadOnlyList<VolumeSnapshot> SnapshotsOf(int volume) => _kept[volume];

    /// <summary>The snapshot is being deleted: nothing reads it any more.</summary>
    public void Forget(int volume, VolumeSnapshot snapshot) => _kept[volume].Remove(snapshot);

    public IEnumerable<VolumeHistory> Complete(int blocks)
    {
        for (var volume = 0; volume < _mounts.Count; volume++)
        {
            var history = new VolumeHistory($"volume{volume}", blocks);
            VolumeMount[] mounts = [.. _mounts[volume].OrderBy(mount => mount.Run).Select(mount => mount.Mount)];
            history.Mounts.AddRange(mounts);
            foreach (var (snapshot, mount) in _snapshots[volume])
                history.Snapshots.Add(snapshot with { Mount = Array.IndexOf(mounts, mount) });
            yield return history;
        }
    }
}
