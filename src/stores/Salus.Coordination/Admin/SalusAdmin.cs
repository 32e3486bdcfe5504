using Tango;
using Tango.Collections;

namespace Salus.Coordination;

/// <summary>The commands of operators: volumes, snapshots, losses, stores. Thread-safe.</summary>
/// <remarks>A command throws <see cref="CorfuException"/> where the log does not answer; it may have been carried out
/// then. Waits have no limit but the caller's token.</remarks>
/// <param name="runtime">The map's.</param>
public sealed class SalusAdmin(TangoRuntime runtime, VolumeMap map, TimeProvider time, IEntropy entropy)
{
    /// <summary>Volumes that are read at once.</summary>
    private const int MostAsked = 16;

    /// <summary>The writer's lock is held as long for a deletion, which takes a moment.</summary>
    private static readonly TimeSpan s_deletion = TimeSpan.FromSeconds(10);

    /// <summary>Makes a volume, and waits until it can be mounted. Cancelled, it goes on being made.</summary>
    /// <param name="name">1 to 255 bytes without <c>@</c>, behind which a snapshot is named.</param>
    /// <exception cref="SalusRefusedException">The name is taken or no name, or there are too few
    /// processes.</exception>
    public Task<VolumeEntry> CreateAsync(
        string name, VolumeGeometry geometry, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(geometry);
        return CallAsync($"Creating volume {name}", async () =>
        {
            if (name.Contains('@', StringComparison.Ordinal))
            {
                throw new SalusRefusedException(
                    $"'{name}': '@' separates a volume from its snapshot. Take another name.");
            }

            var live = (await map.RefreshNodesAsync(cancellationToken)).Stores.Values.Count(
                static node => node.State == BookedState.Live);
            if (live < geometry.Copies)
            {
                throw new SalusRefusedException($"A volume of {geometry.Copies} copies needs as many processes, and "
                    + $"{live} live: start more, or ask for fewer copies.");
            }

            var id = new VolumeId(entropy.NewGuid());
            Require(await map.Directory.AddAsync(name, id, geometry, cancellationToken), $"Volume {name}");
            var entry = await map.Directory.WaitForAsync(
                name, entry => entry?.Id != id || entry.Stage != VolumeStage.Creating, cancellationToken);
            return entry?.Id == id && entry.Stage == VolumeStage.Ready
                ? entry
                : throw new SalusRefusedException($"Volume {name} was deleted while it was made.");
        });
    }

    /// <summary>The conditions of all volumes, by name.</summary>
    public Task<ImmutableArray<VolumeCondition>> ListAsync(CancellationToken cancellationToken = default) =>
        CallAsync("Listing volumes", async () =>
        {
            var view = await RefreshAsync(static _ => true, cancellationToken);
            return view.Entries.Keys.Select(name => VolumeCondition.Of(name, view)!).ToImmutableArray();
        });

    /// <summary>The condition of a volume.</summary>
    /// <exception cref="SalusRefusedException">There is no such volume.</exception>
    public Task<VolumeCondition> StatusAsync(string name, CancellationToken cancellationToken = default) =>
        CallAsync($"Looking at volume {name}", async () =>
        {
            var view = await RefreshAsync(known => known == name, cancellationToken);
            return VolumeCondition.Of(name, view)
                ?? throw Unknown(name);
        });

    /// <summary>Deletes a volume with its snapshots: it can be mounted no more, and the stores free what they hold of
    /// it. Its name is free when they have; see <see cref="WaitUntilGoneAsync"/>.</summary>
    /// <exception cref="SalusRefusedException">There is no such volume, or a writer has it.</exception>
    public Task<VolumeEntry> DeleteAsync(string name, CancellationToken cancellationToken = default) =>
        CallAsync($"Deleting volume {name}", async () =>
        {
            var entry = await FindAsync(name, cancellationToken);
            if (entry.Stage == VolumeStage.Deleting) return entry;
            var mutex = await runtime.OpenAsync<TangoLock>(
                SalusVolume.LockOf(entry.Id), OpenMode.Create, cancellationToken);
            // With the lock no writer begins: it looks at the volume's stage when it has the lock.
            await using var held = await mutex.TryAcquireAsync(s_deletion, "deletes the volume", cancellationToken)
                ?? throw new SalusRefusedException($"Volume {name} is mounted: unmount it first.");
            if (!await map.Directory.TryChangeAsync(name, entry, VolumeStage.Deleting, cancellationToken))
                throw new SalusRefusedException($"Volume {name} has changed meanwhile: look at it again.");
            return entry with { Stage = VolumeStage.Deleting };
        });

    /// <summary>Waits until no store holds anything of a volume that is being deleted, and its name is free.</summary>
    public Task WaitUntilGoneAsync(
        string name, VolumeId volume, CancellationToken cancellationToken = default) => CallAsync(
        $"Waiting for the end of volume {name}", async () => await map.Directory.WaitForAsync(
            name, entry => entry?.Id != volume, cancellationToken));

    /// <summary>The snapshots of a volume.</summary>
    public Task<ImmutableArray<SnapshotEntry>> SnapshotsAsync(
        string name, CancellationToken cancellationToken = default) => CallAsync($"Listing snapshots of {name}",
        async () => (await StateAsync(name, cancellationToken)).State.Head.Snapshots);

    /// <summary>Asks the volume's writer for a snapshot, and waits until it is recorded.</summary>
    /// <exception cref="SalusRefusedException">The name is taken, or no writer has the volume.</exception>
    public Task<SnapshotEntry> SnapshotAsync(
        string name, string snapshot, CancellationToken cancellationToken = default) => CallAsync(
        $"Snapshot {snapshot} of {name}", async () =>
        {
            var (volume, state) = await StateAsync(name, cancellationToken);
            var mutex = await runtime.OpenAsync<TangoLock>(
                SalusVolume.LockOf(state.Head.Id), OpenMode.Create, cancellationToken);
            if (!(await mutex.HolderAsync(cancellationToken)).Found)
            {
                throw new SalusRefusedException($"Volume {name} is not mounted, and its writer makes snapshots: mount "
                    + "it first.");
            }

            Require(await volume.WantSnapshotAsync(snapshot, cancellationToken), $"Snapshot {snapshot}");
            var isWanted = false;
            while (true)
            {
                var entry = state.Head.Snapshots.FirstOrDefault(known => known.Name == snapshot);
                if (entry is { State: not SnapshotState.Wanted }) return entry;
                if (entry is null && isWanted)
                    throw new SalusRefusedException($"Snapshot {snapshot} was deleted before it was made.");
                isWanted |= entry is not null;
                state = await volume.WaitForStateAsync(state.Revision, cancellationToken);
            }
        });

    /// <summary>Deletes a snapshot; one that is only wanted is wanted no more.</summary>
    public Task DeleteSnapshotAsync(
        string name, string snapshot, CancellationToken cancellationToken = default) => CallAsync(
        $"Deleting snapshot {snapshot} of {name}", async () =>
        {
            var (volume, state) = await StateAsync(name, cancellationToken);
            if (state.Head.Snapshots.All(entry => entry.Name != snapshot))
                throw new SalusRefusedException($"Volume {name} has no snapshot {snapshot}: 'corfu volume snapshot "
                    + $"{name}' lists its snapshots.");
            Require(await volume.DeleteSnapshotAsync(snapshot, cancellationToken), $"Snapshot {snapshot}");
            return true;
        });

    /// <summary>Gives up what is proven committed and not there any more, on record and for ever. The writer goes on
    /// from the last batch that all regions show.</summary>
    /// <param name="by">The operator's name.</param>
    /// <exception cref="SalusRefusedException">The volume does not wait for something that is lost.</exception>
    public Task<VolumeLoss> AcceptLossAsync(
        string name, string by, CancellationToken cancellationToken = default) => CallAsync(
        $"Accepting the loss of volume {name}", async () =>
        {
            var (volume, state) = await StateAsync(name, cancellationToken);
            if (state.Head is not { Phase: RunPhase.Waiting, Shortfall: { } shortfall })
            {
                throw new SalusRefusedException($"Volume {name} does not wait for anything that is lost. A volume "
                    + "waits while a writer mounts it: begin with that, and look at its status.");
            }

            var (kept, root) = LastShown(state, shortfall);
            var now = time.GetUtcNow().ToUnixTimeMilliseconds();
            Require(await volume.AcceptLossAsync(state.Head.Run, kept, root, by, now, cancellationToken),
                $"The loss of volume {name}");
            return new VolumeLoss(state.Head.Run, kept, shortfall.Proven, by, now);
        });

    /// <summary>The nodes, linearizable.</summary>
    public Task<NodeBookView> NodesAsync(CancellationToken cancellationToken = default) =>
        CallAsync("Listing nodes", () => map.RefreshNodesAsync(cancellationToken).AsTask());

    /// <summary>Drops a store that never returns: deletions wait for it no more. What it holds counts for nothing from
    /// then on.</summary>
    /// <exception cref="SalusRefusedException">A process serves it.</exception>
    public Task ForgetStoreAsync(StoreId store, CancellationToken cancellationToken = default) =>
        CallAsync($"Forgetting store {store}", async () =>
        {
            Require(await map.Book.ForgetAsync(store.Value, cancellationToken), $"Store {store}");
            return true;
        });

    // All batches up to the one that is shown are there; any of them that a report names is a place to go on from.
    private static (BatchName Kept, Hash128 Root) LastShown(VolumeState state, RunShortfall shortfall)
    {
        if (shortfall.Prefix is { } prefix) return (prefix.Batch, prefix.VolumeRoot);
        ImmutableArray<RegionReport> reports = [.. state.Regions.Values.Select(static region => region.Report!)];
        if (CommittablePrefix.LastUpTo(reports, shortfall.Shown, state.Head.Bar) is { } last)
            return (last.Name, last.VolumeRoot);
        return state.Head.Note is { } note && note.Batch.Number <= shortfall.Shown
            ? (note.Batch, note.VolumeRoot)
            : default;
    }

    private static void Require(string? refusal, string what)
    {
        if (refusal is not null) throw new SalusRefusedException($"{what} was refused: {refusal}.");
    }

    private static async Task<T> CallAsync<T>(string what, Func<Task<T>> call)
    {
        try
        {
            return await call();
        }
        catch (TangoException e)
        {
            throw new CorfuException($"{what} has failed: {e.Message}", e);
        }
    }

    // A view in which these volumes are as new as the call.
    private async Task<MapView> RefreshAsync(Func<string, bool> isAsked, CancellationToken cancellationToken)
    {
        await map.RefreshNodesAsync(cancellationToken);
        var entries = await map.Directory.ListAsync(cancellationToken);
        var asked = entries.Where(entry => entry.Value.Stage == VolumeStage.Ready && isAsked(entry.Key));
        foreach (var some in asked.Chunk(MostAsked))
        {
            await Task.WhenAll(some.Select(
                entry => map.RefreshAsync(entry.Value.Id, cancellationToken).AsTask()));
        }

        return map.View.With(entries);
    }

    private async Task<VolumeEntry> FindAsync(string name, CancellationToken cancellationToken) =>
        await map.Directory.FindAsync(name, cancellationToken) ?? throw Unknown(name);

    private static SalusRefusedException Unknown(string name) =>
        new($"There is no volume {name}: 'corfu volume list' lists the volumes.");

    private async Task<(SalusVolume Volume, VolumeState State)> StateAsync(
        string name, CancellationToken cancellationToken)
    {
        var entry = await FindAsync(name, cancellationToken);
        return entry.Stage != VolumeStage.Deleting
            && await map.RefreshAsync(entry.Id, cancellationToken) is { Head.Geometry: not null } state
            && map.ObjectOf(entry.Id) is { } volume
                ? (volume, state)
                : throw new SalusRefusedException($"Volume {name} is being made or deleted: look at its status.");
    }
}
