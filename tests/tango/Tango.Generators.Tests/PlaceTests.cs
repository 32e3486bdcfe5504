using System.Buffers;
using System.Reflection;
using Corfu;
using Tango.Formatting;

namespace Tango.Generators.Tests;

/// <summary>An ApplyX may take the place of its call, and views may hold places.</summary>
public sealed class PlaceTests
{
    private const string Notes =
        """
        [TangoObject("notes")]
        public sealed partial class Notes : TangoObject, ITangoIndex
        {
            private ImmutableSortedDictionary<int, LogPlace> _places = ImmutableSortedDictionary<int, LogPlace>.Empty;
            private LogPlace? _last;

            LogPlace? ITangoIndex.LowestPlace => _last;

            [Mutator(1)]
            public partial ValueTask<int> SetAsync([VersionKey] int key, string text);

            [Mutator(2)]
            public partial ValueTask MarkAsync(LogPlace place);

            private int ApplySet(int key, string text, LogPlace place)
            {
                _places = _places.SetItem(key, place);
                return key;
            }

            private void ApplyMark(LogPlace place) => _last = place;
        }
        """;

    [Fact]
    public async Task Apply_gets_the_place_of_the_call_and_checkpoints_keep_the_place()
    {
        Assert.Empty(Compiler.Errors(Compiler.Generate(Notes)));
        Assert.Empty(await Compiler.Diagnose(Notes));
        Type type = Compiler.Load(Notes).GetType("Notes", throwOnError: true)!;
        // Reading the type registers the formatters of its state, as opening does.
        type.GetProperties(BindingFlags.Static | BindingFlags.NonPublic)
            .Single(p => p.PropertyType == typeof(TangoObjectType)).GetValue(null);
        var view = (ITangoView)Activator.CreateInstance(type)!;
        var place = new LogPlace(new LogPosition(9), 1, 2);
        ClosedFormatters.ValueTuple<string>();
        view.Apply(1, TangoFormatters.ToBytes(5), TangoFormatters.ToBytes(ValueTuple.Create("text")),
            new ApplyContext(null, place));
        // A place that is an argument stays an argument.
        var marked = new LogPlace(new LogPosition(3), 0, 0);
        ClosedFormatters.ValueTuple<LogPlace>();
        view.Apply(2, default, TangoFormatters.ToBytes(ValueTuple.Create(marked)), new ApplyContext(null, place));
        var state = new ArrayBufferWriter<byte>();
        view.SaveState(state);
        Assert.Equal("82A75F706C616365738105930901" + "02A55F6C61737493030000",
            Convert.ToHexString(state.WrittenSpan));
        var loaded = (ITangoView)Activator.CreateInstance(type)!;
        loaded.LoadState(state.WrittenMemory);
        Assert.Equal(marked, ((ITangoIndex)loaded).LowestPlace);
    }

    [Fact]
    public async Task Apply_skips_log_only_arguments()
    {
        const string Source =
            """
            [TangoObject("notes")]
            public sealed partial class Notes : TangoObject
            {
                private string _last = "";

                [Mutator(1)]
                public partial ValueTask SetAsync([LogOnly] ImmutableArray<int> text, string name, [LogOnly] int n);

                private void ApplySet(string name) => _last = name;
            }
            """;
        Assert.Empty(Compiler.Errors(Compiler.Generate(Source)));
        Assert.Empty(await Compiler.Diagnose(Source));
        Type type = Compiler.Load(Source).GetType("Notes", throwOnError: true)!;
        var view = (ITangoView)Activator.CreateInstance(type)!;
        // An array of whatever; the name; a map. None but the name is decoded.
        view.Apply(
            1, default, Convert.FromHexString("93" + "92C0A178" + "A3616263" + "81C0C0"), new ApplyContext(null));
        var state = new ArrayBufferWriter<byte>();
        view.SaveState(state);
        Assert.Equal("81A55F6C617374" + "A3616263", Convert.ToHexString(state.WrittenSpan));
        var cut = Assert.Throws<TangoFormatException>(() => view.Apply(
            1, default, Convert.FromHexString("93" + "93C0C0"), new ApplyContext(null)));
        Assert.Equal(FormatError.UnexpectedEnd, cut.Error);
    }

    [Theory]
    [InlineData("[Accessor] public partial ValueTask<int> AAsync([LogOnly] int x); private int ReadA() => 1;")]
    [InlineData("private int _n; [Mutator(1)] public partial ValueTask AAsync([VersionKey, LogOnly] int x); "
        + "private void ApplyA() => _n = 1;")]
    public async Task Parameter_that_playback_needs_is_not_log_only(string members) =>
        Assert.Equal(["TANGO003"], await Compiler.Diagnose(Sources.Object(members)));

    [Theory]
    [InlineData("private LogPlace _place;")]
    [InlineData("private ImmutableDictionary<int, LogPlace?> _places = ImmutableDictionary<int, LogPlace?>.Empty;")]
    [InlineData("private (int, Held) _held; [MessagePackObject] public readonly record struct Held([property: Key(0)] "
        + "LogPlace Place);")]
    public async Task Places_that_are_not_claimed(string members) =>
        Assert.Equal(["TANGO027"], await Compiler.Diagnose(Sources.Object(members)));

    [Fact]
    public async Task A_reader_gets_no_place() => Assert.Equal(["TANGO004"], await Compiler.Diagnose(Sources.Object(
        "[Accessor] public partial ValueTask<int> AAsync(); private int ReadA(LogPlace place) => 1;")));
}
