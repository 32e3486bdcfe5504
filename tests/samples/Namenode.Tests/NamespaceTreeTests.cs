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

    [Fact]
    public void Parents_are_made_with_the_path_in_one_edit()
    {
        var tree = new NamespaceTree();
        Assert.True(Do(tree, Verb.Mkdir, "/a/b/c", Options.Parents).IsDone);
        Assert.Equal(1, tree.LastId);
        Assert.NotNull(tree.Find("/a/b/c")?.Children);
        Do(tree, Verb.Create, "/a/f", Options.None);
        Assert.Equal(Outcome.Refused(Refusal.NotADirectory), Do(tree, Verb.Mkdir, "/a/f/x/y", Options.Parents));
        Assert.Equal(2, tree.LastId);
    }

    [Fact]
    public void Rename_takes_the_place_of_a_file_and_of_no_other_kind()
    {
        var tree = new NamespaceTree();
        Do(tree, Verb.Create, "/f", Options.None);
        Do(tree, Verb.Create, "/g", Options.None);
        Do(tree, Verb.Mkdir, "/d/e", Options.Parents);
        Do(tree, Verb.Mkdir, "/x", Options.None);
        Assert.Equal(Outcome.Refused(Refusal.Exists), Rename(tree, "/f", "/d", Options.Overwrite));
        Assert.Equal(Outcome.Refused(Refusal.Exists), Rename(tree, "/f", "/f", Options.Overwrite));
        Assert.Equal(Outcome.Refused(Refusal.Exists), Rename(tree, "/f", "/g", Options.None));
        Assert.Equal(Outcome.Refused(Refusal.NotEmpty), Rename(tree, "/x", "/d", Options.Overwrite));
        long id = tree.Find("/f")!.Id;
        Assert.True(Rename(tree, "/f", "/g", Options.Overwrite).IsDone);
        Assert.Equal((null, id), (tree.Find("/f"), tree.Find("/g")!.Id));
    }

    [Fact]
    public void Deletion_of_the_empty_alone_leaves_a_full_directory()
    {
        var tree = new NamespaceTree();
        Do(tree, Verb.Mkdir, "/a/b", Options.Parents);
        Assert.Equal(Outcome.Refused(Refusal.NotEmpty), Do(tree, Verb.Delete, "/a", Options.OnlyEmpty));
        Assert.True(Do(tree, Verb.Delete, "/a/b", Options.OnlyEmpty).IsDone);
        Assert.True(Do(tree, Verb.Delete, "/a", Options.OnlyEmpty).IsDone);
    }

    [Fact]
    public void Attributes_are_in_edits_and_images()
    {
        var tree = new NamespaceTree();
        var operation = new Operation(Verb.Mkdir, "/a", Attributes: new Attributes("alice", "staff", 7, 5, 6));
        tree.Replay(Edit.Decode(new Edit(1, "c", 1, operation).Encode()));
        Assert.Equal("directory 1 7  alice:staff 5 6", tree.Status("/a").Text);
        tree.Do("c", 2, new Operation(Verb.SetAttributes, "/a", Attributes: new Attributes(Owner: "bob")));
        Assert.Equal("directory 1 7  bob:staff 5 6", tree.Status("/a").Text);
        Assert.Equal(tree.Print(), NamespaceTree.FromImage(Image.Decode(tree.ToImage().Encode())).Print());
    }

    [Fact]
    public void Attributes_of_the_root_are_in_images()
    {
        var tree = new NamespaceTree();
        tree.Do("c", 1, new Operation(Verb.SetAttributes, "", Attributes: new Attributes("alice", "staff", 7, 5, 6)));
        NamespaceTree loaded = NamespaceTree.FromImage(Image.Decode(tree.ToImage().Encode()));
        Assert.Equal("directory 0 7  alice:staff 5 6", loaded.Status("").Text);
        Assert.Contains("/ directory 0 7  alice:staff 5 6", loaded.Print(), StringComparison.Ordinal);
    }

    [Fact]
    public void Rename_makes_no_path_deeper_or_longer_than_a_path_may_be()
    {
        string chain = string.Concat(Enumerable.Repeat("/1", 599));
        var tree = new NamespaceTree();
        Do(tree, Verb.Mkdir, "/t" + chain, Options.Parents);
        Do(tree, Verb.Mkdir, "/u" + chain, Options.Parents);
        Assert.Equal(Outcome.Refused(Refusal.TooLong), Rename(tree, "/t", $"/u{chain}/t", Options.None));
        Do(tree, Verb.Mkdir, "/w/" + new string('x', 5_000), Options.Parents);
        Do(tree, Verb.Mkdir, "/y/" + new string('x', 5_000), Options.Parents);
        Assert.Equal(Outcome.Refused(Refusal.TooLong),
            Rename(tree, "/w", $"/y/{new string('x', 5_000)}/w", Options.None));
        Assert.True(Do(tree, Verb.Delete, "/t", Options.None).IsDone);
    }

    [Fact]
    public void Size_counts_paths_and_clients_through_replacement_deletion_and_images()
    {
        var tree = new NamespaceTree();
        Do(tree, Verb.Mkdir, "/a/b/c", Options.Parents);
        Do(tree, Verb.Create, "/a/f", Options.None);
        Do(tree, Verb.Create, "/a/f", Options.Overwrite);
        Do(tree, Verb.Create, "/a/g", Options.None);
        Assert.True(Rename(tree, "/a/f", "/a/g", Options.Overwrite).IsDone);
        Assert.Equal(4 + 1, tree.Size);
        Do(tree, Verb.Delete, "/a/b", Options.None);
        Assert.Equal(2 + 1, tree.Size);
        Assert.Equal(2 + 1, NamespaceTree.FromImage(tree.ToImage()).Size);
    }

    [Fact]
    public void Oldest_answers_are_forgotten_alike_by_a_tree_and_by_the_tree_of_an_image()
    {
        const int Kept = 4_096;
        var tree = new NamespaceTree();
        for (var client = 0; client < Kept; client++) tree.Do($"{client}", 1, new Operation(Verb.Mkdir, $"/{client}"));
        NamespaceTree loaded = NamespaceTree.FromImage(tree.ToImage());
        foreach (NamespaceTree one in new[] { tree, loaded })
        {
            one.Do("0", 2, new Operation(Verb.Mkdir, "/again"));
            one.Do("new", 1, new Operation(Verb.Mkdir, "/new"));
            Assert.NotNull(one.AnswerOf("0"));
            Assert.Null(one.AnswerOf("1"));
            Assert.NotNull(one.AnswerOf("2"));
        }

        Assert.Equal(tree.Print(), loaded.Print());
    }

    private static Outcome Do(NamespaceTree tree, Verb verb, string path, Options options) =>
        tree.Do("c", tree.LastId + 1, new Operation(verb, path, Value: (long)options));

    private static Outcome Rename(NamespaceTree tree, string path, string to, Options options) =>
        tree.Do("c", tree.LastId + 1, new Operation(Verb.Rename, path, to, (long)options));

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
