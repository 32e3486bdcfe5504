using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Model;

/// <summary>The state of a cohort at one position, from which its playback can go on: what a checkpoint holds (R21). It
/// belongs to the playback that starts from it.</summary>
/// <param name="End">Everything of the cohort's streams below is applied, nothing at or above.</param>
/// <param name="Members">Members that were born below <paramref name="End"/>, the first one first.</param>
/// <param name="Awaited">Commit records below <paramref name="End"/> that read members, with their decision records at
/// or above it, or not in the log yet (R20).</param>
internal sealed record LoadedCohort(
    LogPosition End, IReadOnlyList<LoadedObject> Members, ImmutableArray<AwaitedDecision> Awaited)
{
    /// <summary>Bytes of the checkpoint that it comes from.</summary>
    public long Size { get; init; }

    public static LoadedCohort From(CohortSnapshot checkpoint)
    {
        var end = checkpoint.End;
        if (Planted.Is("loader-skips-one-entry")) end = end.Next;
        return new LoadedCohort(end, [.. checkpoint.Members.Select(LoadedObject.From)], checkpoint.Awaited)
        {
            Size = checkpoint.Size,
        };
    }
}

/// <param name="View">A view that no reader holds; null for an object that is played without one.</param>
/// <param name="Removed">Not null: the record that deleted it out of its cohort.</param>
internal sealed record LoadedObject(
    DirectoryEntry Entry, TangoObject? View, VersionTable Versions, RecordVersion? Removed)
{
    public static LoadedObject From(MemberSnapshot checkpoint)
    {
        var versions = new VersionTable(checkpoint.Entry.VersionCapacity);
        if (!Planted.Is("checkpoint-without-versions")) versions.Restore(checkpoint.Versions);
        return new LoadedObject(
            checkpoint.Entry, checkpoint.View, versions, checkpoint.IsRemoved ? checkpoint.Versions.LastAny : null);
    }
}
