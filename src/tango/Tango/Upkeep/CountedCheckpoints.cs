using Corfu;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Playback;

namespace Tango.Upkeep;

/// <summary>Writes checkpoints and tells the directory of them, so that claims on history rise.</summary>
/// <param name="directory">The handle of this runtime; it is open.</param>
internal sealed class CountedCheckpoints(
    CheckpointWriter writer, CheckpointReader reader, TangoDirectory directory, PlayedDirectory played)
{
    /// <summary>Writes the checkpoint and reads it back: history may be released on the strength of it.</summary>
    public async ValueTask<CohortSnapshot> WriteAsync(
        CohortSnapshot snapshot, IReadOnlyList<CohortMember> members, CancellationToken cancellationToken)
    {
        var position = await writer.WriteAsync(snapshot, cancellationToken);
        return await reader.LoadAsync(position, members, cancellationToken);
    }

    /// <summary>Writes the checkpoint, reads it back, and the cohort's claim rises.</summary>
    public async ValueTask WriteAsync(Cohort cohort, CohortSnapshot snapshot, CancellationToken cancellationToken)
    {
        var members = snapshot.Members
            .Select(member => new CohortMember(member.Entry, cohort.Find(member.Entry.Id)!.Type)).ToList();
        var loaded = await WriteAsync(snapshot, members, cancellationToken);
        cohort.Traffic.CheckpointSize = loaded.Size;
        await ClaimAsync(cohort, snapshot, cancellationToken);
    }

    /// <summary>
    /// Tells the directory, so that the cohort's claim on history rises (R19). R20: a commit record that reads the
    /// cohort may have to be decided from a checkpoint that is not above it. The directory keeps the last one but this.
    /// </summary>
    public async ValueTask ClaimAsync(Cohort cohort, CohortSnapshot checkpoint, CancellationToken cancellationToken)
    {
        var first = cohort.Objects[0].Id;
        var lowest = checkpoint.FindLowestPlace();
        for (var mayRepeat = true; ; mayRepeat = false)
        {
            var claims = await directory.ReadClaimsAsync(cancellationToken);
            if (!claims.Cohorts.TryGetValue(first, out var claim))
                throw new TangoDirectoryException($"'{cohort.Objects[0].Name}' was deleted");
            try
            {
                var forget = NeedlessBelow(checkpoint, claim);
                await directory.CheckpointedAsync(first, checkpoint.End, forget, lowest, cancellationToken);
                return;
            }
            catch (TangoRejectedException) when (mayRepeat)
            {
                // Other hosts have raised the claim since it was read, or the cohort was deleted.
            }
            catch (TangoRejectedException e)
            {
                throw new TangoException($"The checkpoint does not count: {e.Reason}", e);
            }
        }
    }

    /// <summary>R20: the claim stays while the last checkpoint that is known here is above an undecided record. If it
    /// is not, that checkpoint stays: another host's may come between, above the record.</summary>
    private LogPosition NeedlessBelow(CohortSnapshot checkpoint, CohortClaim claim)
    {
        if (Planted.Is("forget-ignores-undecided-records")) return checkpoint.End;
        if (checkpoint.Awaited.IsEmpty) return checkpoint.End;
        if (claim.Checkpoint is not { } last || last > checkpoint.Awaited[0].Commit.Position) return claim.Forget;
        return new LogPosition(Math.Max(claim.Forget.Offset, last.Offset - played.MaxSpan));
    }
}
