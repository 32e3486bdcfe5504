using CsCheck;

namespace Salus.Protocol.Tests;

/// <summary>The tree of a region against one that is built anew from all leaves.</summary>
public sealed class TreeTests
{
    private const int Blocks = 40 * 256;

    private static readonly Gen<Step> s_steps = Gen.OneOf(
        Gen.Select(
            Gen.Int[0, Blocks - 1].HashSet[0, 6], Gen.Select(Gen.Int[0, Blocks - 1], Gen.Int[1, 700]).Array[0, 2],
            (blocks, ranges) => new Step(StepKind.Apply, [.. blocks.Order()], ranges)),
        Gen.Const(new Step(StepKind.Undo, [], [])),
        Gen.Const(new Step(StepKind.Settle, [], [])),
        Gen.Int[0, 39].Select(page => new Step(StepKind.Drop, [page], [])));

    private enum StepKind
    {
        Apply,
        Undo,
        Settle,
        Drop,
    }

    [Fact]
    public void Tree_has_the_root_of_all_leaves_after_any_batches_and_undos() =>
        s_steps.Array[1, 40].Sample(Run, iter: 100);

    [Fact]
    public void Tree_of_page_hashes_has_the_root_and_takes_the_right_leaves_only()
    {
        var leaves = new Hash128[Blocks];
        for (var block = 0; block < Blocks; block += 100) leaves[block] = SampleMessages.Hash(block + 1);
        var whole = Whole(leaves);
        var tree = RegionTree.FromPages(whole.PageHashes);
        Assert.Equal(whole.Root, tree.Root);
        Assert.True(tree.IsMissing(3));
        Assert.False(tree.TryGetLeaf(3 * 256, out _));
        Assert.False(tree.TryLoad(3, PageOf(leaves, 4)));
        Assert.True(tree.TryLoad(3, PageOf(leaves, 3)));
        Assert.True(tree.TryGetLeaf(800, out var leaf));
        Assert.Equal(leaves[800], leaf);
    }

    [Fact]
    public void Change_of_a_missing_page_is_refused_as_a_whole()
    {
        var leaves = new Hash128[Blocks];
        leaves[300] = leaves[600] = SampleMessages.Hash(1);
        var tree = RegionTree.FromPages(Whole(leaves).PageHashes);
        var before = tree.Root;
        Assert.Equal(1, tree.FirstMissing([new BlockWrite(301, SampleMessages.Hash(2))], []));
        Assert.Equal(2, tree.FirstMissing([], [new ZeroRange(256, 257)]));
        Assert.Throws<InvalidOperationException>(() => tree.Apply(
            [new BlockWrite(5, SampleMessages.Hash(2)), new BlockWrite(301, SampleMessages.Hash(2))], []));
        Assert.Equal((before, 0), (tree.Root, tree.Unsettled));
    }

    [Fact]
    public void Discard_of_whole_pages_needs_no_leaves_and_leaves_an_empty_tree()
    {
        var leaves = new Hash128[Blocks];
        leaves[300] = leaves[9000] = SampleMessages.Hash(1);
        var tree = RegionTree.FromPages(Whole(leaves).PageHashes);
        var before = tree.Root;
        tree.Apply([], [new ZeroRange(0, Blocks)]);
        Assert.True(tree.Root.IsEmpty);
        tree.Undo();
        Assert.Equal(before, tree.Root);
        Assert.True(tree.IsMissing(1));
    }

    /// <summary>S24: the undo of a batch needs the leaves that it changed.</summary>
    [Fact]
    public void Page_that_an_undo_needs_stays()
    {
        var tree = new RegionTree(4);
        tree.Apply([new BlockWrite(300, SampleMessages.Hash(1))], []);
        Assert.False(tree.TryDrop(1));
        tree.Settle();
        Assert.True(tree.TryDrop(1));
        Assert.True(tree.IsMissing(1));
        Assert.Throws<InvalidOperationException>(tree.Undo);
        Assert.Throws<InvalidOperationException>(tree.Settle);
    }

    [Fact]
    public void Largest_region_has_a_root_and_a_larger_one_is_refused()
    {
        var tree = new RegionTree(1024);
        tree.Apply([new BlockWrite((1 << 18) - 1, SampleMessages.Hash(1))], []);
        Assert.False(tree.Root.IsEmpty);
        Assert.Throws<ArgumentOutOfRangeException>(() => new RegionTree(1025));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(16)]
    [InlineData(17)]
    [InlineData(4096)]
    public void Top_has_the_same_root_in_any_order_of_changes(int regions)
    {
        var random = new Random(regions);
        var top = new VolumeTop(regions);
        Assert.True(top.Root.IsEmpty);
        var roots = new Hash128[regions];
        for (var i = 0; i < 50; i++)
        {
            var region = random.Next(regions);
            roots[region] = i % 7 == 0 ? default : SampleMessages.Hash(i);
            top.Set(region, roots[region]);
        }

        Assert.Equal(RootOf(roots, TreeHash.RegionLevel), top.Root);
    }

    private static void Run(Step[] steps)
    {
        var leaves = new Hash128[Blocks];
        var tree = new RegionTree(Blocks / 256);
        var versions = new List<Hash128[]>();
        var next = 0;
        foreach (var step in steps)
        {
            switch (step.Kind)
            {
                case StepKind.Undo when versions.Count > 0:
                    tree.Undo();
                    leaves = versions[^1];
                    versions.RemoveAt(versions.Count - 1);
                    break;
                case StepKind.Settle when versions.Count > 0:
                    tree.Settle();
                    versions.RemoveAt(0);
                    break;
                case StepKind.Drop:
                    tree.TryDrop(step.Blocks[0]);
                    break;
                case StepKind.Apply:
                    versions.Add(leaves);
                    leaves = (Hash128[])leaves.Clone();
                    Apply(tree, leaves, step, ref next);
                    break;
            }

            Assert.Equal(RootOf(leaves, 0), tree.Root);
            Assert.Equal(versions.Count, tree.Unsettled);
        }
    }

    private static void Apply(RegionTree tree, Hash128[] leaves, Step step, ref int next)
    {
        var before = (Hash128[])leaves.Clone();
        var zeros = new List<ZeroRange>();
        foreach (var (first, count) in step.Ranges.OrderBy(range => range.Item1))
        {
            var from = Math.Max(first, zeros.Count > 0 ? zeros[^1].End : 0);
            var until = Math.Min(first + count, Blocks);
            if (from >= until) continue;
            zeros.Add(new ZeroRange(from, until - from));
            leaves.AsSpan(from, until - from).Clear();
        }

        var writes = new List<BlockWrite>();
        foreach (var block in step.Blocks.Where(block => !zeros.Exists(z => z.First <= block && block < z.End)))
        {
            leaves[block] = SampleMessages.Hash(++next);
            writes.Add(new BlockWrite(block, leaves[block]));
        }

        while (tree.FirstMissing(writes.ToArray(), zeros.ToArray()) is >= 0 and var page)
            Assert.True(tree.TryLoad(page, PageOf(before, page)));
        tree.Apply(writes.ToArray(), zeros.ToArray());
    }

    private static TreePage PageOf(Hash128[] leaves, int page) => new(leaves.AsSpan(page * 256, 256));

    private static RegionTree Whole(Hash128[] leaves)
    {
        var tree = new RegionTree(leaves.Length / 256);
        tree.Apply([.. leaves.Index().Where(leaf => !leaf.Item.IsEmpty).Select(l => new BlockWrite(l.Index, l.Item))],
            []);
        tree.Settle();
        return tree;
    }

    // By the definition: level by level, whole. Regions have five levels, whatever their size.
    private static Hash128 RootOf(Hash128[] level, int number)
    {
        while (level.Length > 1 || number < TreeHash.RegionLevel)
        {
            number++;
            level = [.. level.Chunk(TreeHash.Fan).Select(children => TreeHash.OfChildren(children, number))];
        }

        return level[0];
    }

    private sealed record Step(StepKind Kind, int[] Blocks, (int, int)[] Ranges);
}
