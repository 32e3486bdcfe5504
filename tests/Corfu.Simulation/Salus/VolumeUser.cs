using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Salus;
using Salus.Coordination;
using Tango;

namespace Corfu.Simulation.Salus;

/// <summary>The calls of one tenure, recorded.</summary>
internal sealed class VolumeUser(SalusCluster cluster, SalusHistory history, IVolume volume, VolumeMount mount,
    Ledger ledger, SimVolumeWriter writer)
{
    private int BlockSize => volume.BlockSize;

    public IVolume Mounted => volume;

    public int Volume => writer.Volume;

    public VolumeMount Mount => mount;

    public TimeProvider Time => writer.Process!.Time;

    /// <summary>Another process may write: every further call fails.</summary>
    public bool IsOver { get; private set; }

    public async Task<bool> ReadAsync(int first, int count)
    {
        var bytes = new byte[count * BlockSize];
        return await CallAsync(VolumeAct.Read, first, count, [],
            () => volume.ReadAsync(first, bytes, null, default),
            () => [.. Enumerable.Range(0, count).Select(i =>
                BlockPattern.Read(bytes.AsSpan(i * BlockSize, BlockSize), first + i))]);
    }

    /// <param name="durable">Acknowledged when committed, however the volume acknowledges.</param>
    public async Task WriteAsync(int first, int count, bool durable)
    {
        var bytes = new byte[count * BlockSize];
        var values = new long[count];
        for (var i = 0; i < count; i++)
        {
            values[i] = ledger.NextPayload();
            BlockPattern.Write(bytes.AsSpan(i * BlockSize, BlockSize), first + i, values[i]);
        }

        await CallAsync(VolumeAct.Write, first, count, values, () => volume.WriteAsync(first, bytes, durable),
            success: Acknowledged(durable));
    }

    /// <inheritdoc cref="WriteAsync"/>
    public Task ClearAsync(int first, int count, bool durable) => CallAsync(VolumeAct.Clear, first, count, [],
        () => volume.ClearAsync(first, count, durable), success: Acknowledged(durable));

    public async Task SnapshotAsync(string name)
    {
        var from = mount.Calls.Count;
        try
        {
            await writer.Client!.SnapshotAsync(writer.VolumeName, name);
            history.Snapped(Volume, mount, name, from);
            cluster.Monitor.Mark("snapshot taken");
        }
        catch (VolumeException e)
        {
            cluster.Monitor.Mark($"snapshot failed: {e.Fault}");
        }
    }

    /// <summary>Reads a part of a snapshot. Another writer may have deleted it.</summary>
    public async Task ReadSnapshotAsync(VolumeSnapshot snapshot, SimRandom random)
    {
        try
        {
            var source = await writer.Client!.FindAsync($"{writer.VolumeName}@{snapshot.Name}");
            if (source is null) return;
            await using var mounted = await source.MountAsync(default);
            var count = random.Between(1, 64);
            var first = random.Next((int)(mounted.Size / BlockSize) - count);
            var bytes = new byte[count * BlockSize];
            await mounted.ReadAsync(first, bytes, null, default);
            for (var i = 0; i < count; i++)
            {
                snapshot.Seen.Add((first + i,
                    BlockPattern.Read(bytes.AsSpan(i * BlockSize, BlockSize), first + i)));
            }

            cluster.Monitor.Mark("snapshot read");
        }
        catch (Exception e) when (e is VolumeException or CorfuException)
        {
            cluster.Monitor.Mark("snapshot not read");
        }
    }

    public async Task DeleteSnapshotAsync(VolumeSnapshot snapshot)
    {
        history.Forget(Volume, snapshot);
        await cluster.PatientlyAsync(writer.Process!, async () =>
        {
            var runtime = writer.Runtime!;
            var state = await runtime.OpenAsync<SalusVolume>(
                SalusVolume.NameOf(cluster.Volumes[Volume].Id), OpenMode.Create);
            return await state.DeleteSnapshotAsync(snapshot.Name);
        });
        cluster.Monitor.Mark("snapshot deleted");
    }

    public Task FlushAsync() => CallAsync(VolumeAct.Flush, 0, 0, [], volume.FlushAsync);

    private VolumeFate Acknowledged(bool durable) =>
        durable || !cluster.Plan.IsOrdered ? VolumeFate.Done : VolumeFate.Placed;

    private async Task<bool> CallAsync(VolumeAct act, int first, int count, IReadOnlyList<long> values,
        Func<ValueTask> call, Func<IReadOnlyList<long>>? seen = null, VolumeFate success = VolumeFate.Done)
    {
        var place = history.Begin(mount, new VolumeCall(act, first, count, cluster.World.Steps) { Values = values });
        try
        {
            await call();
            history.End(mount, place, success, seen?.Invoke());
            cluster.Monitor.Mark(success == VolumeFate.Done ? $"{act} done" : $"{act} placed");
            return true;
        }
        catch (VolumeException e)
        {
            IsOver |= e.Fault is VolumeFault.LeaseLost or VolumeFault.WritesLost;
            if (e.Fault == VolumeFault.WritesLost && !cluster.Plan.MayLose)
                cluster.Monitor.Found(CheckerNames.LossTold, $"a writer ends though no tail was lost: {e.Message}");
            history.End(mount, place, e.Fault == VolumeFault.OutOfSpace ? VolumeFate.Refused : VolumeFate.Failed);
            cluster.Monitor.Mark($"{act} failed: {e.Fault}");
            return false;
        }
    }
}
