using System.Globalization;
using NamenodeSample.Run;
using NamenodeSample.Tree;

namespace NamenodeSample.Tests;

/// <summary>The tree alone, against the model that the program compares it with.</summary>
public sealed class NamespaceTreeTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Tree_and_model_agree_after_each_operation(int seed)
    {
        var random = new Random(seed);
        var tree = new NamespaceTree();
        var model = new Model();
        var done = 0;
        for (var number = 0; number < 2_000; number++)
        {
            Operation operation = Operations.Draw(random);
            var client = $"client-{random.Next(3)}";
            Outcome outcome = operation.Verb == Verb.Status
                ? tree.Status(operation.Path)
                : tree.Do(client, number, operation);
            Assert.Equal(model.Do(client, number, operation), outcome);
            Assert.Equal(model.LastId, tree.LastId);
            if (outcome.IsDone) done++;
            if (number % 50 == 0) Assert.Equal(model.Print(), tree.Print());
        }

        Assert.Equal(model.Print(), tree.Print());
        Assert.InRange(done, 500, 1_900);
    }

    [Fact]
    public void Tree_of_an_image_goes_on_as_the_tree_does()
    {
        NamespaceTree tree = Grown(5, 800);
        NamespaceTree loaded = NamespaceTree.FromImage(Image.Decode(tree.ToImage().Encode()));
        Assert.Equal(tree.Print(), loaded.Print());
        Grow(tree, 6, 300);
        Grow(loaded, 6, 300);
        Assert.Equal(tree.Print(), loaded.Print());
    }

    [Fact]
    public void Replayed_edits_give_the_tree_and_are_passed_over_once_known()
    {
        var edits = new List<Edit>();
        NamespaceTree tree = Grown(7, 500, edits);
        var replayed = new NamespaceTree();
        foreach (Edit edit in edits)
        {
            replayed.Replay(Edit.Decode(edit.Encode()));
            replayed.Replay(edit);
        }

        replayed.Replay(Edit.Mark(replayed.LastId));
        Assert.Equal(tree.Print(), replayed.Print());
    }

    [Fact]
    public void Replay_refuses_a_gap_and_an_impossible_edit()
    {
        var tree = new NamespaceTree();
        Assert.Throws<JournalException>(() => tree.Replay(new Edit(2, "c", 1, new Operation(Verb.Mkdir, "/a"))));
        Assert.Throws<JournalException>(() => tree.Replay(new Edit(1, "c", 1, new Operation(Verb.Delete, "/a"))));
        Assert.Equal(0, tree.LastId);
    }

    [Theory]
    [InlineData(new byte[0])]
    [InlineData(new byte[] { 0xC0 })]
    [InlineData(new byte[] { 0x94, 1, 0xA1 })]
    public void Bytes_of_no_edit_are_refused(byte[] bytes) =>
        Assert.Throws<JournalException>(() => Edit.Decode(bytes));

    [Theory]
    [InlineData("")]
    [InlineData("/")]
    [InlineData("a")]
    [InlineData("/a/")]
    [InlineData("/a//b")]
    public void Bad_path_is_refused(string path)
    {
        var tree = new NamespaceTree();
        tree.Do("c", 1, new Operation(Verb.Mkdir, "/a"));
        Assert.Equal(Outcome.Refused(Refusal.BadPath), tree.Do("c", 2, new Operation(Verb.Create, path)));
        Assert.Equal(Outcome.Refused(Refusal.BadPath), tree.Do("c", 2, new Operation(Verb.Rename, "/a", path)));
        Assert.Equal(1, tree.LastId);
    }

    [Fact]
    public void Operation_is_read_back_from_text()
    {
        var operation = new Operation(Verb.Rename, "/a/b", "/c", 7);
        Assert.Equal(operation, Operation.Parse(operation.ToString().Split(' ')));
    }

    private static NamespaceTree Grown(int seed, int operations, List<Edit>? edits = null)
    {
        var tree = new NamespaceTree();
        Grow(tree, seed, operations, edits);
        return tree;
    }

    private static void Grow(NamespaceTree tree, int seed, int operations, List<Edit>? edits = null)
    {
        var random = new Random(seed);
        for (var number = 0; number < operations; number++)
        {
            Operation operation = Operations.Draw(random);
            var client = number.ToString(CultureInfo.InvariantCulture);
            if (operation.Verb != Verb.Status && tree.Do(client, number, operation).IsDone)
                edits?.Add(new Edit(tree.LastId, client, number, operation));
        }
    }
}
