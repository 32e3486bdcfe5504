namespace Salus.Reads;

/// <summary>The page hashes of a region whose root is known.</summary>
internal sealed class PageHashesQuestion(
    RegionKey region, int pages, Hash128 root, BatchPoint point) : MemberQuestion<ReadTreeResponse>(region)
{
    /// <summary>The tree of the answer that was verified last.</summary>
    public RegionTree? Tree { get; private set; }

    public override string What => "reading the page hashes";

    public override Request<ReadTreeResponse> At(Epoch generation) => point.Tree(generation, Region, []);

    public override Judgment Judge(ReadTreeResponse response)
    {
        if (!response.IsOk) return Judgment.Unable;
        // A member of another batch is behind, or ahead of a driver that has lost the volume: no accusation.
        if (point.Snapshot == 0 && response.Batch.Number != point.Last) return Judgment.Unable;
        if (response.PageHashes.Length != pages) return Judgment.Wrong;
        var tree = RegionTree.FromPages(response.PageHashes.AsSpan());
        if (tree.Root != root) return Judgment.Wrong;
        Tree = tree;
        return Judgment.Good;
    }
}
