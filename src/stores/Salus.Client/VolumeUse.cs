namespace Salus;

/// <summary>A volume that this process has mounted, and how it gets on.</summary>
/// <param name="Run">The tenure of this writer.</param>
/// <param name="Committed">All batches up to this one are durable at all members of their regions.</param>
/// <param name="Stable">All batches up to this one are in checkpoints.</param>
/// <param name="Pending">Batches under way.</param>
/// <param name="OldestAge">The age of the oldest of them; zero: none is under way.</param>
/// <param name="Replaced">Regions that wait for a new generation: their requests wait.</param>
public sealed record VolumeUse(VolumeId Volume, long Run, long Committed, long Stable, int Pending, TimeSpan OldestAge,
    ImmutableArray<int> Replaced);
