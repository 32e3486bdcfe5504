using Salus.Region.Body;

namespace Salus.Region.Recovery;

/// <summary>Makes this process ready to serve a region in a generation that names it a member.</summary>
public interface IRegionRecovery
{
    /// <summary>Ends the generation before, reads what is left of the region, and opens it. Goes on until it is done or
    /// cancelled; a newer generation cancels it.</summary>
    /// <param name="generation">The newest one that was played; this process is one of its members.</param>
    /// <returns>The opening, and everything below, is durable in the own store.</returns>
    Task<RecoveredRegion> RecoverAsync(
        RegionKey region, RegionGeneration generation, CancellationToken cancellationToken);

    /// <summary>The pass of the generation's members, in the recovery that is under way; one that has ended answers
    /// again.</summary>
    void Adopt(AdoptRequest request, ReplyTo reply);
}

/// <summary>A region as a member begins to serve it.</summary>
/// <param name="Index">The last record of its log: the opening; 0: the region is new.</param>
/// <param name="Chain">The chain up to there.</param>
/// <param name="Run">The run that the region has opened at.</param>
/// <param name="Committed">The highest proof that was found; null: none.</param>
/// <param name="Last">The region's last batch that is committed; none: it has none.</param>
/// <param name="LastHeader">The header of that batch, where the log still has it.</param>
/// <param name="Above">Batches above it, ascending: accepted by the body, durable, and not known committed.</param>
public sealed record RecoveredRegion(IRegionBody Body, long Index, Hash128 Chain, long Run, CommitProof? Committed,
    BatchName Last, BatchHeader? LastHeader, ImmutableArray<LoggedBatch> Above)
{
    /// <summary>Cuts and compactions whose files are being written, ascending.</summary>
    public ImmutableArray<BegunFile> Begun { get; init; } = [];

    /// <summary>Cuts and compactions that are still to be carried out, ascending: each when all batches below it are
    /// committed (S18).</summary>
    public ImmutableArray<RegionRecord> Cuts { get; init; } = [];
}

/// <summary>A cut or a compaction that the body carries out.</summary>
public sealed record BegunFile(RegionRecord Record, Task<CheckpointName> Written);

/// <summary>A batch in the region's log.</summary>
public sealed record LoggedBatch(long Index, SubBatch Batch);
