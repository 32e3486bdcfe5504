namespace Salus.Reads;

/// <summary>The leaves of pages whose hashes are known.</summary>
/// <param name="hasChanged">The region has changed since the question was put together.</param>
internal sealed class LeavesQuestion(RegionKey region, ImmutableArray<(int Page, Hash128 Hash)> pages,
    BatchPoint point, Func<bool> hasChanged) : MemberQuestion<ReadTreeResponse>(region)
{
    /// <summary>Pages of the answer that was verified last, in the order of the question.</summary>
    public ImmutableArray<TreePage> Leaves { get; private set; } = [];

    public override string What => "reading leaves of the hash tree";

    public override Request<ReadTreeResponse> At(Epoch generation) =>
        point.Tree(generation, Region, [.. pages.Select(static page => page.Page)]);

    public override Judgment Judge(ReadTreeResponse response)
    {
        if (!response.IsOk) return Judgment.Unable;
        var wrong = hasChanged() ? Judgment.Changed : Judgment.Wrong;
        if (response.Pages.Length != pages.Length) return wrong;
        var leaves = ImmutableArray.CreateBuilder<TreePage>(pages.Length);
        for (var i = 0; i < pages.Length; i++)
        {
            var page = new TreePage(response.Pages[i].AsSpan());
            if (page.Hash != pages[i].Hash) return wrong;
            leaves.Add(page);
        }

        Leaves = leaves.MoveToImmutable();
        return Judgment.Good;
    }
}
