using Corfu;
using Tango.Model;
using Tango.Playback;

namespace Tango.Upkeep;

/// <summary>Makes checkpoints of cohorts, open here or not, that count for the log's trim point.</summary>
internal sealed class CheckpointMaker(
    Player player, HostedCohorts hosted, PlayedDirectory directory, PlaybackContext beside, TangoTypeRegistry types,
    CountedCheckpoints checkpoints, ClaimHolders holders, RuntimeLifetime lifetime)
{
    /// <summary>A checkpoint of everything acknowledged before the call.</summary>
    /// <returns>The checkpoint's end.</returns>
    public ValueTask<LogPosition> MakeAsync(Cohort cohort, CancellationToken cancellationToken) =>
        lifetime.RunAsync(stop => CaptureAndWriteAsync(cohort, stop), cancellationToken);

    /// <summary>As <see cref="MakeAsync"/>, of a cohort that is not open here: it is loaded and let go.</summary>
    public ValueTask<LogPosition> MakeUnhostedAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken) =>
        lifetime.RunAsync(stop => PlayAndWriteAsync(members, stop), cancellationToken);

    /// <summary>The members of a cohort that is not open here, if this program can play all of it.</summary>
    public IReadOnlyList<DirectoryEntry>? FindUnhosted(ObjectId first)
    {
        if (hosted.IsOpen(first)) return null;
        var members = directory.LastPublished.GroupOf(first);
        return members.Count > 0 && members.All(
            member => member.Removed is not null || types.TryGet(member.TypeName, out _))
            ? members
            : null;
    }

    private async ValueTask<LogPosition> CaptureAndWriteAsync(Cohort cohort, CancellationToken stop)
    {
        var snapshot = await player.CaptureAsync(cohort, stop);
        if (Planted.Is("group-checkpointed-at-two-positions"))
        {
            var later = await player.CaptureAsync(cohort, stop);
            snapshot = later with { Members = later.Members.SetItem(0, snapshot.Members[0]) };
        }

        // As if the writer had stopped before it wrote anything.
        if (Planted.Is("incomplete-checkpoint-counts") && snapshot.End.Offset % 2 == 1)
        {
            await checkpoints.ClaimAsync(cohort, snapshot, stop);
            return snapshot.End;
        }

        await checkpoints.WriteAsync(cohort, snapshot, stop);
        if (snapshot.Awaited.Any(static one => !one.IsDecided))
            holders.Start(cohort.Objects[0].Id, async token => (await player.CaptureAsync(cohort, token)).Awaited
                .Where(static one => !one.IsDecided));
        return snapshot.End;
    }

    private async ValueTask<LogPosition> PlayAndWriteAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken stop)
    {
        // By id: the record that added a member does not say that it was removed since.
        var removed = members.Where(static member => member.Removed is not null)
            .Select(static member => member.Id).ToHashSet();
        var cohort = new Cohort(members, member => removed.Contains(member.Id) ? null : types.Get(member));
        await player.SyncAsync(stop);
        var snapshot = await UnhostedCohort.PlayAsync(cohort, player.Published.End, beside, stop);
        await checkpoints.WriteAsync(cohort, snapshot, stop);
        if (!snapshot.Awaited.IsEmpty) holders.Start(members[0].Id, _ => new(snapshot.Awaited));
        return snapshot.End;
    }
}
