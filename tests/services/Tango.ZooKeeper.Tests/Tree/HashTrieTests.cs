using CsCheck;
using Trie = Tango.ZooKeeper.HashTrie<string, Tango.ZooKeeper.Tests.Entry, Tango.ZooKeeper.Tests.EntryKeys>;

namespace Tango.ZooKeeper.Tests;

public sealed class HashTrieTests
{
    // Hashes of few bits, so that all shapes occur: nodes at each level, chains, buckets.
    private static readonly string[] s_hashes =
        ["", "0", "2", "20", "2400", "100000000", "8000000000000000", "ffffffffffffffff"];

    private static readonly Gen<string> s_key = Gen.Select(
        Gen.Int[0, s_hashes.Length - 1], Gen.Int[0, 4], static (hash, number) => $"{s_hashes[hash]}:{number}");

    private static readonly Gen<(string Key, bool IsRemoval)[]> s_program =
        Gen.Select(s_key, Gen.Bool).Array[0, 60];

    [Fact]
    public void Trie_holds_the_items_of_a_dictionary() => s_program.Sample(program =>
    {
        var model = new Dictionary<string, Entry>();
        var trie = new Trie(0);
        foreach (var (key, isRemoval) in program)
        {
            if (isRemoval)
            {
                model.Remove(key);
                trie = trie.Remove(key);
            }
            else
            {
                model[key] = new Entry(key);
                trie = trie.Set(model[key]);
            }

            Assert.Equal(model.Count, trie.Count);
            Assert.Same(model.GetValueOrDefault(key), trie.Find(key));
        }

        Assert.Equal(model.Values.OrderBy(e => e.Key), trie.Items().OrderBy(e => e.Key));
        foreach (var (key, entry) in model) Assert.Same(entry, trie.Find(key));
    });

    [Fact]
    public void Equal_content_of_different_histories_has_equal_structure() => s_program.Sample(program =>
    {
        var trie = new Trie(0);
        foreach (var (key, isRemoval) in program)
            trie = isRemoval ? trie.Remove(key) : trie.Set(new Entry(key));

        var items = trie.Items().ToArray();
        Assert.Equal(Shape(trie), Shape(Trie.From(items, 0)));
        var added = items.OrderBy(e => e.Key, StringComparer.Ordinal).Aggregate(new Trie(0), (t, e) => t.Set(e));
        Assert.Equal(Shape(trie), Shape(added));
        Assert.Equal(items, added.Items());
    });

    [Fact]
    public void Older_version_is_not_changed() => s_program.Sample(program =>
    {
        var trie = new Trie(0);
        var versions = new List<(Trie Trie, string Shape)>();
        foreach (var (key, isRemoval) in program)
        {
            versions.Add((trie, Shape(trie)));
            trie = isRemoval ? trie.Remove(key) : trie.Set(new Entry(key));
        }

        Assert.All(versions, version => Assert.Equal(version.Shape, Shape(version.Trie)));
    });

    [Fact]
    public void Removal_of_a_missing_key_gives_the_same_trie()
    {
        var trie = new Trie(0).Set(new Entry("0:1")).Set(new Entry("0:2"));
        Assert.Same(trie, trie.Remove("0:3"));
        Assert.Same(trie, trie.Remove("1:1"));
    }

    [Theory]
    [InlineData("0:1")]
    [InlineData("ff:1")]
    public void Items_of_equal_keys_are_refused(string key) =>
        Assert.Throws<ArgumentException>(() => Trie.From([new Entry(key), new Entry("0:2"), new Entry(key)], 0));

    [Fact]
    public void Few_children_are_an_array_and_equal_sets_have_equal_structure() =>
        Gen.Select(Gen.Int[0, 20], Gen.Bool).Array[0, 80].Sample(program =>
        {
            var model = new HashSet<string>();
            var children = default(ChildSet);
            foreach (var (number, isRemoval) in program)
            {
                var path = $"/p/{number}";
                if (isRemoval && model.Remove(path)) children = children.Remove(path);
                else if (!isRemoval && model.Add(path)) children = children.Add(path, World.Seed);
            }

            Assert.Equal(model.Count, children.Count);
            Assert.Equal(model.Order(StringComparer.Ordinal), children.Paths().Order(StringComparer.Ordinal));
            Assert.Equal(ChildSet.From(model, World.Seed), children);
            if (model.Count <= 8) Assert.Equal(model.Order(StringComparer.Ordinal), children.Paths());
        });

    private static string Shape(Trie trie) => Shape(trie.Top);

    private static string Shape(Trie.Node node) =>
        $"{node.Items:x}/{node.Nodes:x}["
        + string.Join(' ', node.Slots.Select(slot => slot is Entry entry ? entry.Key : Shape((Trie.Node)slot))) + "]";
}

/// <summary>An item whose hash stands in its key, before the colon.</summary>
internal sealed record Entry(string Key);

internal readonly struct EntryKeys : ITrieKeys<string, Entry>
{
    public static string KeyOf(Entry item) => item.Key;

    public static ulong Hash(string key, ulong seed) => key[0] == ':' ? 1 : Convert.ToUInt64(key.Split(':')[0], 16);

    public static bool IsKeyOf(Entry item, string key) => item.Key == key;

    public static int Compare(Entry left, Entry right) => string.CompareOrdinal(left.Key, right.Key);
}
