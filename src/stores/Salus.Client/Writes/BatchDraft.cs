namespace Salus.Writes;

/// <summary>The changes of a batch, by region.</summary>
internal static class BatchDraft
{
    /// <summary>Ascending by region.</summary>
    public static ImmutableArray<PartDraft> Of(
        IReadOnlyList<PlacedRequest> requests, VolumeGeometry geometry, ImmutableArray<int> also)
    {
        var regions = new SortedDictionary<int, RegionChanges>();
        foreach (var region in also) regions.Add(region, new RegionChanges(region, geometry.BlockSize));
        foreach (var request in requests)
        {
            var at = 0;
            for (var block = request.First; block < request.End;)
            {
                var piece = geometry.FirstPiece(block, request.End - block);
                var bytes = request.Data.IsEmpty ? 0 : piece.Count * geometry.BlockSize;
                var changes = Of(regions, piece.Region, geometry.BlockSize);
                changes.Add(piece.First, piece.Count, request.Data.Slice(at, bytes));
                at += bytes;
                block += piece.Count;
            }
        }

        return [.. regions.Values.Select(changes => changes.Copy(regions.Count))];
    }

    /// <summary>The region that decides the batch: the one that decided the batch before, which saves a message
    /// between them, else the one with most bytes.</summary>
    public static int LeaderOf(ImmutableArray<PartDraft> parts, int? previous)
    {
        var leader = parts[0];
        foreach (var part in parts)
        {
            if (part.Region == previous) return part.Region;
            if (part.Payload.Length > leader.Payload.Length) leader = part;
        }

        return leader.Region;
    }

    private static RegionChanges Of(SortedDictionary<int, RegionChanges> regions, int region, int blockSize)
    {
        if (!regions.TryGetValue(region, out var changes))
            regions.Add(region, changes = new RegionChanges(region, blockSize));
        return changes;
    }
}
