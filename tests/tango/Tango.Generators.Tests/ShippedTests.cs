using System.Collections.Immutable;
using System.Globalization;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Text;

namespace Tango.Generators.Tests;

/// <summary>TangoObjects.Shipped.txt and the code.</summary>
public sealed class ShippedTests
{
    private const string Shop =
        """
        namespace Shop;

        [MessagePackObject] public sealed record Order([property: Key(0)] long Id, [property: Key(2)] string? User);

        [TangoObject("node-pool")] public sealed partial class NodePool : TangoObject
        {
            private int _free;
            private ImmutableDictionary<long, Order> _held = ImmutableDictionary<long, Order>.Empty;
            [Mutator(1)] public partial ValueTask<int[]> AllocateAsync(
                [VersionKey] long job, (int A, Order? B) what, CancellationToken ct = default);
            [Mutator(3)] public partial ValueTask AddAsync(int? nodes);
            [Accessor] public partial ValueTask<int> FreeAsync();
            private int[] ApplyAllocate(long job, (int A, Order? B) what) => [];
            private void ApplyAdd(int? nodes) { _free += (int)(nodes ?? 1); _held = _held.Clear(); }
            private int ReadFree() => _free;
        }

        [TangoObject("box")] public sealed partial class Box<T> : TangoObject { private T? _item; }

        [TangoContext("shop")] public sealed partial class ShopContext : TangoContext
        {
            public partial NodePool Nodes { get; }
            [ObjectName("all orders")] public partial Box<Order> Orders { get; }
        }

        [TangoContext("alone", Group = false)] public sealed partial class Alone : TangoContext
        {
            public partial NodePool Nodes { get; }
        }
        """;

    private static readonly string[] s_lines =
    [
        """context "alone": no group""",
        """context "shop": group""",
        """member "alone" Nodes: "node-pool" """.Trim(),
        """member "shop" "all orders": "box"<Shop.Order>""",
        """member "shop" Nodes: "node-pool" """.Trim(),
        """mutator "node-pool" 1: Allocate([VersionKey] long, System.ValueTuple<int, Shop.Order>) -> int[]""",
        """mutator "node-pool" 3: Add(int?)""",
        """object "box" """.Trim(),
        """object "node-pool" """.Trim(),
        """state "box" _item: T""",
        """state "node-pool" _free: int""",
        """state "node-pool" _held: System.Collections.Immutable.ImmutableDictionary<long, Shop.Order>""",
        """value "Shop.Order" 0: Id long""",
        """value "Shop.Order" 2: User string""",
    ];

    [Fact]
    public async Task An_empty_file_asks_for_each_line()
    {
        ImmutableArray<Diagnostic> found = await Compiler.Analyze(Shop, Shipped());
        Assert.All(found, diagnostic => Assert.Equal("TANGO043", diagnostic.Id));
        Assert.Equal(s_lines,
            found.Select(diagnostic => diagnostic.Properties[ShippedAnalyzer.LineProperty])
                .Order(StringComparer.Ordinal));
        Assert.All(found, diagnostic => Assert.EndsWith(
            $" has no line: {diagnostic.Properties[ShippedAnalyzer.LineProperty]}", Text(diagnostic),
            StringComparison.Ordinal));
        Assert.All(found, diagnostic => Assert.Equal("Snippet.cs", diagnostic.Location.GetLineSpan().Path));
    }

    [Fact]
    public async Task Complete_shipped_file_has_no_diagnostics() =>
        Assert.Empty(await Compiler.Analyze(Shop,
            Shipped(["# Version 1.", "", .. s_lines, "*REMOVED* mutator \"node-pool\" 2: Free(long)"])));

    [Fact]
    public async Task Object_is_not_checked_without_a_shipped_file() => Assert.Empty(await Compiler.Analyze(Shop));

    [Fact]
    public async Task Another_file_is_none() =>
        Assert.Empty(await Compiler.Analyze(Shop, new Additional("PublicAPI.Shipped.txt", "")));

    [Theory]
    // Renumbered: the old number is gone.
    [InlineData("[Mutator(3)]", "[Mutator(4)]",
        "TANGO040 'mutator \"node-pool\" 3: Add(int?)' has shipped and is not in the code",
        "TANGO043 TangoObjects.Shipped.txt has no line: mutator \"node-pool\" 4: Add(int?)")]
    [InlineData("int? nodes", "long? nodes",
        "TANGO041 'mutator \"node-pool\" 3: Add(long?)' has shipped as 'mutator \"node-pool\" 3: Add(int?)'")]
    [InlineData("[VersionKey] long job", "long job",
        "TANGO041 'mutator \"node-pool\" 1: Allocate(long, System.ValueTuple<int, Shop.Order>) -> int[]' has shipped "
        + "as 'mutator \"node-pool\" 1: Allocate([VersionKey] long, System.ValueTuple<int, Shop.Order>) -> int[]'")]
    [InlineData("[Mutator(3)]", "[Mutator(2)]",
        "TANGO040 'mutator \"node-pool\" 3: Add(int?)' has shipped and is not in the code",
        "TANGO042 'mutator \"node-pool\" 2: Add(int?)' takes the place of 'mutator \"node-pool\" 2: Free(long)'")]
    [InlineData("_free", "_left",
        "TANGO040 'state \"node-pool\" _free: int' has shipped and is not in the code",
        "TANGO043 TangoObjects.Shipped.txt has no line: state \"node-pool\" _left: int")]
    [InlineData("[TangoContext(\"shop\")]", "[TangoContext(\"shop\", Group = false)]",
        "TANGO041 'context \"shop\": no group' has shipped as 'context \"shop\": group'")]
    [InlineData("Box<Order>", "Box<long>",
        "TANGO041 'member \"shop\" \"all orders\": \"box\"<long>' has shipped as "
        + "'member \"shop\" \"all orders\": \"box\"<Shop.Order>'")]
    [InlineData("[ObjectName(\"all orders\")] public partial Box<Order> Orders { get; }", "",
        "TANGO040 'member \"shop\" \"all orders\": \"box\"<Shop.Order>' has shipped and is not in the code")]
    [InlineData(", [property: Key(2)] string? User", "",
        "TANGO040 'value \"Shop.Order\" 2: User string' has shipped and is not in the code")]
    // Swapped: the types alone would not show it.
    [InlineData("[property: Key(2)] string? User", "[property: Key(2)] string? Name",
        "TANGO041 'value \"Shop.Order\" 2: Name string' has shipped as 'value \"Shop.Order\" 2: User string'")]
    public async Task A_change_that_old_logs_could_not_be_read_with_is_reported(string old, string changed,
        params string[] expected)
    {
        AdditionalText file = Shipped([.. s_lines, "*REMOVED* mutator \"node-pool\" 2: Free(long)"]);
        ImmutableArray<Diagnostic> found =
            await Compiler.Analyze(Shop.Replace(old, changed, StringComparison.Ordinal), file);
        Assert.Equal(expected, found.Select(d => $"{d.Id} {Text(d)}").Order(StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("mutator node-pool 3", "it is no line of this file")]
    [InlineData("*REMOVED*mutator \"node-pool\" 4: Free(long)", "it is no line of this file")]
    [InlineData("*REMOVED* mutator \"node-pool\" 3: Free(long)", "another line has 'mutator \"node-pool\" 3'")]
    public async Task Wrong_line_is_reported_at_the_place_of_the_line(string line, string why)
    {
        Diagnostic found = Assert.Single(await Compiler.Analyze(Shop, Shipped([.. s_lines, line])));
        Assert.Equal($"TANGO044 '{line}': {why}", $"{found.Id} {Text(found)}");
        FileLinePositionSpan where = found.Location.GetLineSpan();
        Assert.Equal("project/TangoObjects.Shipped.txt", where.Path);
        Assert.Equal(s_lines.Length, where.StartLinePosition.Line);
    }

    private static string Text(Diagnostic diagnostic) => diagnostic.GetMessage(CultureInfo.InvariantCulture);

    private static Additional Shipped(params string[] lines) =>
        new("project/TangoObjects.Shipped.txt", string.Join("\n", lines));

    private sealed class Additional(string path, string text) : AdditionalText
    {
        public override string Path => path;

        public override SourceText GetText(CancellationToken cancellationToken = default) => SourceText.From(text);
    }
}
