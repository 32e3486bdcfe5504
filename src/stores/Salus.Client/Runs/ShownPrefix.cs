namespace Salus.Runs;

/// <summary>The last batch that all regions can return to, where their roots do not make the root of the decided
/// batch. Pure.</summary>
/// <remarks>The volume's root after a batch is in the header of the batch, which each of its regions has. It is the
/// root over the regions' roots at that batch, and no other contents make it: where it is made, no region lacks
/// anything up to there.</remarks>
internal static class ShownPrefix
{
    /// <param name="histories">By region; each ends with all that the region has.</param>
    /// <param name="checkpoints">By region, ascending: those that the log has.</param>
    /// <param name="stable">All regions have everything up to there: their checkpoints are certified.</param>
    /// <param name="decided">The batch whose root is not made.</param>
    /// <returns>The batch, and the regions that have nothing behind it: one of them lacks something, at least. No
    /// batch: the histories do not reach down to one.</returns>
    public static (ShownBatch? Batch, ImmutableArray<int> Lacking) Of(
        ImmutableArray<RegionHistoryResponse> histories, ImmutableArray<ImmutableArray<CheckpointName>> checkpoints,
        long stable, BatchName decided)
    {
        var told = Of(histories, stable, decided);
        if (told.Batch is not null) return told;
        // A region whose log is broken below a checkpoint can return to the stable point alone.
        return Of([.. histories.Select((history, region) => IsBroken(history)
            ? AtFloor(checkpoints[region].LastOrDefault(checkpoint => checkpoint.Batch <= stable))
            : history)], stable, decided);

        bool IsBroken(RegionHistoryResponse history) => history.Base.Number > stable
            && history.Batches.Length < RegionHistoryRequest.MaxBatches;
    }

    private static RegionHistoryResponse AtFloor(CheckpointName floor) => new(Status.Ok, Epoch.First)
    {
        Base = new BatchName(floor.Run, floor.Batch, default),
        BaseRoot = floor.Root,
        Batches = [],
    };

    private static (ShownBatch? Batch, ImmutableArray<int> Lacking) Of(
        ImmutableArray<RegionHistoryResponse> histories, long stable, BatchName decided)
    {
        var top = new VolumeTop(histories.Length);
        // Below, a history that fills its answer says nothing of the region's root.
        var from = Math.Max(stable, histories.Max(static history => history.Base.Number));
        var last = default(BatchName);
        var behind = new SortedDictionary<long, List<(int Region, RegionBatch Batch)>>();
        for (var region = 0; region < histories.Length; region++)
        {
            top.Set(region, histories[region].BaseRoot);
            Reach(histories[region].Base);
            foreach (var batch in histories[region].Batches)
            {
                if (batch.Name.Number <= from)
                {
                    top.Set(region, batch.Root);
                    Reach(batch.Name);
                }
                else if (batch.Name.Number < decided.Number)
                {
                    if (!behind.TryGetValue(batch.Name.Number, out var same)) behind[batch.Name.Number] = same = [];
                    same.Add((region, batch));
                }
            }
        }

        var shown = from == stable ? new ShownBatch(last, top.Root) : default(ShownBatch?);
        foreach (var batches in behind.Values)
        {
            foreach (var (region, batch) in batches) top.Set(region, batch.Root);
            foreach (var (_, batch) in batches)
            {
                if (batch.VolumeRoot == top.Root) shown = new ShownBatch(batch.Name, top.Root);
            }
        }

        return (shown, [.. Enumerable.Range(0, histories.Length).Where(IsAtEnd)]);

        void Reach(BatchName name)
        {
            if (name.Number > last.Number) last = name;
        }

        bool IsAtEnd(int region) => histories[region].Batches.IsEmpty
            || histories[region].Batches[^1].Name.Number <= (shown?.Batch.Number ?? 0);
    }
}
