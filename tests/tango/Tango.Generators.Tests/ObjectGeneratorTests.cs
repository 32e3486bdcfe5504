using System.Buffers;
using System.Reflection;

namespace Tango.Generators.Tests;

public sealed class ObjectGeneratorTests
{
    [Fact]
    public async Task Generated_code_compiles_without_a_warning_and_the_analyzers_are_content()
    {
        Assert.Empty(Compiler.Errors(Compiler.Generate(Sources.NodePool)));
        Assert.Empty(await Compiler.Diagnose(Sources.NodePool));
    }

    [Fact]
    public void Snapshot_of_a_small_object()
    {
        string generated = Compiler.Generated(
            """
            [TangoObject("switch")]
            public sealed partial class Switch : TangoObject
            {
                private bool _on;

                [Mutator(1)]
                public partial ValueTask<bool> TurnAsync(
                    [VersionKey] int lamp, bool on, CancellationToken ct = default);

                private bool ApplyTurn(int lamp, bool on) => _on = on;
            }
            """);
        if (Environment.GetEnvironmentVariable("UPDATE_SNAPSHOTS") is { } folder)
            File.WriteAllText(Path.Combine(folder, "Switch.g.txt"), generated);
        string expected = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "Snapshots", "Switch.g.txt"))
            .Replace("\r\n", "\n");
        Assert.Equal(expected, generated);
    }

    [Fact]
    public void Nested_and_generic_classes()
    {
        string source =
            """
            namespace A.B;

            public static partial class Outer<TOuter>
                where TOuter : class
            {
                [TangoObject("inner")]
                internal sealed partial class Inner<@event, TValue> : TangoObject
                    where @event : notnull, IComparable<@event>
                {
                    private ImmutableSortedDictionary<@event, TValue?> _items =
                        ImmutableSortedDictionary<@event, TValue?>.Empty;

                    public int Version { get; private set; }

                    [Mutator(7)]
                    internal partial ValueTask PutAsync(
                        [VersionKey] @event @new, [VersionKey] string part, TValue? value, TOuter? outer);

                    [Accessor]
                    private partial ValueTask<ImmutableSortedDictionary<@event, TValue?>> AllAsync(
                        CancellationToken @in);

                    private void ApplyPut(@event @new, string part, TValue? value, TOuter? outer)
                    {
                        _items = _items.SetItem(@new, value);
                        Version++;
                    }

                    private ImmutableSortedDictionary<@event, TValue?> ReadAll() => _items;
                }
            }
            """;
        Assert.Empty(Compiler.Errors(Compiler.Generate(source)));
    }

    [Fact]
    public void Dispatch_and_checkpoint_run()
    {
        Type type = Compiler.Load(Sources.NodePool).GetType("Cluster.NodePool", throwOnError: true)!;
        ITangoView view = Create(type);
        Apply(view, 3, "", "920105");
        byte[] taken = Apply(view, 1, "", "92cd03e802", new ApplyResult<int[]>()) is ApplyResult<int[]> { Value: { } v }
            ? [.. v.Select(i => (byte)i)]
            : [];
        Assert.Equal([1, 2], taken);
        Assert.Throws<TangoRejectedException>(() => Apply(view, 1, "", "920209"));
        Assert.Throws<TangoUnknownRecordException>(() => Apply(view, 99, "", "90"));
        Assert.Throws<TangoFormatException>(() => Apply(view, 3, "", "9101"));
        Assert.Throws<TangoFormatException>(() => Apply(view, 3, "", "92010500"));
        Assert.Throws<TangoFormatException>(() => Apply(view, 3, "01", "920105"));

        var state = new ArrayBufferWriter<byte>();
        view.SaveState(state);
        ITangoView loaded = Create(type);
        loaded.LoadState(state.WrittenMemory);
        Apply(loaded, 2, "cd03e8", "90");
        var full = (IEnumerable<int>)type.GetField("_free", BindingFlags.Instance | BindingFlags.NonPublic)!
            .GetValue(loaded)!;
        Assert.Equal([1, 2, 3, 4, 5], full);
    }

    [Fact]
    public void A_checkpoint_survives_added_and_reordered_fields_but_not_lost_ones()
    {
        string before = Sources.Object("private int _a = 1; private string _b = \"x\";");
        string after = Sources.Object("private long _c = 5; private string _b = \"y\"; private int _a;");
        var state = new ArrayBufferWriter<byte>();
        Create(Compiler.Load(before).GetType("Subject")!).SaveState(state);
        ITangoView newer = Create(Compiler.Load(after).GetType("Subject")!);
        newer.LoadState(state.WrittenMemory);
        var all = new ArrayBufferWriter<byte>();
        newer.SaveState(all);
        Assert.Equal("83a25f6305a25f62a178a25f6101", Convert.ToHexStringLower(all.WrittenSpan));
        ITangoView older = Create(Compiler.Load(before).GetType("Subject")!);
        byte[] newState = all.WrittenSpan.ToArray();
        Assert.Throws<TangoFormatException>(() => older.LoadState(newState));
    }

    [Fact]
    public void A_checkpoint_keeps_the_comparers_of_the_initial_state()
    {
        string source = Sources.Object(
            """
            private ImmutableSortedSet<string> _set =
                ImmutableSortedSet.Create<string>(StringComparer.OrdinalIgnoreCase, "a");
            private ImmutableDictionary<string, int> _map =
                ImmutableDictionary.Create<string, int>(StringComparer.OrdinalIgnoreCase);
            """);
        Type type = Compiler.Load(source).GetType("Subject")!;
        Assert.Equal("t", Facts(type).Name);
        var state = new ArrayBufferWriter<byte>();
        Create(type).SaveState(state);
        ITangoView view = Create(type);
        view.LoadState(state.WrittenMemory);
        var set = (System.Collections.Immutable.ImmutableSortedSet<string>)type
            .GetField("_set", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(view)!;
        Assert.Contains("A", set);
    }

    [Fact]
    public void R16_a_mutator_that_returns_or_may_reject_reads()
    {
        Type type = Compiler.Load(Sources.NodePool).GetType("Cluster.NodePool", throwOnError: true)!;
        TangoObjectType facts = Facts(type);
        Assert.Equal("node-pool", facts.Name);
        Assert.Equal([(1, "Allocate", true), (2, "Release", false), (3, "AddNodes", false)],
            facts.Mutators.Select(m => (m.Number, m.Name, m.Reads)));
    }

    private static TangoObjectType Facts(Type type) => (TangoObjectType)type
        .GetProperties(BindingFlags.Static | BindingFlags.NonPublic)
        .Single(p => p.PropertyType == typeof(TangoObjectType)).GetValue(null)!;

    private static ITangoView Create(Type type) => (ITangoView)Activator.CreateInstance(type)!;

    private static ApplyResult? Apply(ITangoView view, int mutator, string key, string arguments,
        ApplyResult? result = null)
    {
        view.Apply(mutator, Convert.FromHexString(key), Convert.FromHexString(arguments), new ApplyContext(result));
        return result;
    }

    [Theory]
    [InlineData("")]
    [InlineData("private readonly int _limit = 3; [Accessor] public partial ValueTask<int> LimitAsync(); "
        + "private int ReadLimit() => _limit;")]
    [InlineData("[Mutator(1)] public partial ValueTask NoteAsync(int x); private void ApplyNote(int x) { }")]
    public void An_object_without_state_compiles_without_warnings(string members) =>
        Assert.Empty(Compiler.Errors(Compiler.Generate(Sources.Object(members))));
}
