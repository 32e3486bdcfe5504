namespace Salus.Reads;

/// <summary>The roots of a region batch by batch, down to the checkpoint that the stable point has reached.</summary>
/// <param name="now">The region as it has opened: its history ends there.</param>
/// <param name="checkpoints">The region's, as the log has them.</param>
internal sealed class HistoryQuestion(RegionKey region, long run, RegionBeginning now,
    ImmutableArray<CheckpointName> checkpoints) : MemberQuestion<RegionHistoryResponse>(region)
{
    public override string What => "reading the roots of its batches";

    public override Request<RegionHistoryResponse> At(Epoch generation) =>
        new RegionHistoryRequest(generation, Region, run);

    // An answer that does not fit is no accusation: it may be of another generation.
    public override Judgment Judge(RegionHistoryResponse response)
    {
        if (!response.IsOk) return Judgment.Unable;
        var before = response.Base.Number;
        foreach (var batch in response.Batches)
        {
            if (batch.Name.Number <= before) return Judgment.Unable;
            before = batch.Name.Number;
        }

        var end = response.Batches.IsEmpty ? response.BaseRoot : response.Batches[^1].Root;
        return before == now.Last.Number && end == now.Root && IsKnown(response) ? Judgment.Good : Judgment.Unable;
    }

    // A history that fills the answer begins at a batch of its own.
    private bool IsKnown(RegionHistoryResponse response) =>
        (response.Base.IsNone && response.BaseRoot.IsEmpty)
        || response.Batches.Length == RegionHistoryRequest.MaxBatches
        || checkpoints.Any(checkpoint => checkpoint.Batch == response.Base.Number
            && checkpoint.Run == response.Base.Run && checkpoint.Root == response.BaseRoot);
}
