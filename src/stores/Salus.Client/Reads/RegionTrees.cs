namespace Salus.Reads;

/// <summary>Loads the tree of a region whose root is known, without its leaves.</summary>
internal static class RegionTrees
{
    public static async Task<RegionTree> LoadAsync(MemberAsker asker, RegionKey region, int pages, Hash128 root,
        BatchPoint point, CancellationToken cancellationToken)
    {
        if (root.IsEmpty) return new RegionTree(pages);
        var question = new PageHashesQuestion(region, pages, root, point);
        await asker.AskAsync(question, cancellationToken);
        return question.Tree!;
    }
}
