using CsCheck;
using TreeStep = Tango.Collections.Tests.Step<
    Tango.Collections.TangoTree<int>, Tango.Collections.Tests.TreeModel>;

namespace Tango.Collections.Tests;

/// <summary>The tree against a dictionary of paths.</summary>
public sealed class TreeModelTests
{
    // Few, so that operations meet; with names that are prefixes of each other.
    private static readonly string[] s_some = ["/a", "/b", "/ab", "/a/a", "/a/b", "/b/a", "/a/a/b", "/a/a-"];

    private static readonly Gen<string> s_paths = Gen.Int[0, s_some.Length - 1].Select(i => s_some[i]);
    private static readonly Gen<string> s_withRoot = Gen.Frequency((6, s_paths), (1, Gen.Const("/")));
    private static readonly Gen<int> s_values = Gen.Int[0, 9];
    private static readonly Gen<long?> s_versions = Gen.Int[0, 4].Select(i => i < 2 ? null : (long?)(i - 1));

    private static readonly ModelCheck<TangoTree<int>, TreeModel> s_tree = new(
        Gen.Frequency(
            (6, Gen.Select(s_paths, s_values, (path, value) => TreeStep.Write($"create {path} {value}",
                tree => tree.CreateAsync(path, value), model => model.Create(path, value)))),
            (2, Gen.Select(s_paths, s_values, s_versions, (path, value, version) => TreeStep.Write(
                $"set {path} {value} if {version}", tree => tree.SetAsync(path, value, version),
                model => model.Set(path, value, version)))),
            (2, Gen.Select(s_paths, s_versions, (path, version) => TreeStep.Write($"delete {path} if {version}",
                tree => tree.DeleteAsync(path, version), model => model.Delete(path, version)))),
            (1, s_paths.Select(path => TreeStep.WriteOrReject($"delete all of {path}", async tree =>
                await tree.DeleteSubtreeAsync(path) is var count and > 0 ? count : throw new TangoRejectedException(""),
                model => model.DeleteSubtree(path) is var count and > 0 ? Lookup.Of(count) : Lookup<int>.None))),
            (3, Gen.Select(s_paths, s_paths, (from, to) => TreeStep.Write($"move {from} {to}",
                tree => tree.MoveAsync(from, to), model => model.Move(from, to)))),
            (1, s_paths.Select(path => TreeStep.Read($"get {path}", tree => tree.TryGetAsync(path),
                model => model.Find(path)))),
            (1, s_withRoot.Select(path => TreeStep.Read($"exists {path}", tree => tree.ExistsAsync(path),
                model => model.Exists(path)))),
            (1, s_withRoot.Select(path => TreeStep.Read($"children {path}",
                async tree => (await tree.ChildrenAsync(path)).ToArray(), model => model.Children(path)))),
            (1, s_withRoot.Select(path => TreeStep.Read($"subtree {path}",
                async tree => (await tree.SubtreeAsync(path)).ToArray(), model => model.Subtree(path)))),
            (1, Gen.Const(TreeStep.Read("count", tree => tree.CountAsync(), model => model.Count)))),
        () => new TreeModel(),
        async tree => (await tree.SubtreeAsync("/")).ToArray(), model => model.Subtree("/"));

    [Fact]
    public Task A_tree_answers_as_a_dictionary_of_paths() => s_tree.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_tree_are_serializable() => s_tree.ConcurrentAsync();
}
