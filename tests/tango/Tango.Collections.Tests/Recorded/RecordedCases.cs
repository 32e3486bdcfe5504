using System.Collections.Immutable;

namespace Tango.Collections.Tests.Recorded;

/// <summary>Content of the recorded log, in its order.</summary>
internal static class RecordedCases
{
    private static readonly Guid s_guid = Guid.Parse("01234567-89ab-cdef-0123-456789abcdef");
    private static readonly DateTime s_time = new(2026, 11, 23, 12, 34, 56, DateTimeKind.Utc);
    private static readonly Place s_place = new("Ghent", -7, Colour.Red);

    public static IReadOnlyList<RecordedCase> All { get; } =
    [
        .. Primitives(), .. Texts(), .. Times(), .. Tuples(), .. Sequences(), .. Sets(), .. Maps(), .. Own(), .. Keys(),
    ];

    private static IEnumerable<RecordedCase> Primitives() =>
    [
        new RecordedCase<bool>("bool", true, false),
        new RecordedCase<byte>("byte", 0, 127, 128, 255),
        new RecordedCase<sbyte>("sbyte", -128, -33, -32, -1, 0, 127),
        new RecordedCase<short>("short", short.MinValue, -129, 5, short.MaxValue),
        new RecordedCase<ushort>("ushort", 0, 256, ushort.MaxValue),
        new RecordedCase<int>("int", int.MinValue, -32769, -1, 0, 65536, int.MaxValue),
        new RecordedCase<uint>("uint", 0, 70000, uint.MaxValue),
        new RecordedCase<long>("long", long.MinValue, int.MinValue - 1L, 0, 1L << 32, long.MaxValue),
        new RecordedCase<ulong>("ulong", 0, 1UL << 32, ulong.MaxValue),
        new RecordedCase<char>("char", 'a', 'ä', '\uffff', '\ud800'),
        new RecordedCase<float>("float", 1.5f, -0f, float.NaN, float.Epsilon, float.NegativeInfinity),
        new RecordedCase<double>("double", 1.5, -0.0, double.NaN, double.MaxValue, double.PositiveInfinity),
        new RecordedCase<decimal>("decimal", 1.0m, 1.00m, -0.0m, decimal.MinValue, 0.0000000000000000000000000001m),
        new RecordedCase<Colour>("enum8", Colour.None, Colour.Red, (Colour)7),
        new RecordedCase<Depth>("enum16", Depth.Trench, Depth.Sea),
        new RecordedCase<Stars>("enum64", Stars.One, Stars.Many),
        new RecordedCase<DayOfWeek>("enum32", DayOfWeek.Friday, (DayOfWeek)(-5)),
        new RecordedCase<int?>("nullable", 5, null, -40000),
        new RecordedCase<Colour?>("nullableenum", Colour.Red, null),
    ];

    private static IEnumerable<RecordedCase> Texts() =>
    [
        new RecordedCase<string?>("string", "", "hé", null, "😀", new string('x', 300), "a\0b"),
        new RecordedCase<Guid>("guid", Guid.Empty, s_guid),
        new RecordedCase<byte[]?>("bytes", [], [1, 2, 255], null, new byte[300]),
        new RecordedCase<ReadOnlyMemory<byte>>("memory", ReadOnlyMemory<byte>.Empty, new byte[] { 9, 8 }),
    ];

    private static IEnumerable<RecordedCase> Times() =>
    [
        new RecordedCase<DateTime>("datetime", s_time, s_time.AddTicks(1), DateTime.UnixEpoch.AddSeconds(-1),
            new DateTime(0, DateTimeKind.Utc), new DateTime(DateTime.MaxValue.Ticks, DateTimeKind.Utc)),
        new RecordedCase<DateTimeOffset>("datetimeoffset",
            new DateTimeOffset(2026, 11, 23, 1, 2, 3, TimeSpan.FromMinutes(-570)), DateTimeOffset.MinValue,
            DateTimeOffset.MaxValue),
        new RecordedCase<TimeSpan>("timespan", TimeSpan.MinValue, TimeSpan.FromTicks(-1), TimeSpan.MaxValue),
        new RecordedCase<DateOnly>("date", DateOnly.MinValue, new DateOnly(2026, 11, 23), DateOnly.MaxValue),
        new RecordedCase<TimeOnly>("time", TimeOnly.MinValue, new TimeOnly(12, 34, 56, 789), TimeOnly.MaxValue),
    ];

    private static IEnumerable<RecordedCase> Tuples() =>
    [
        new RecordedCase<ValueTuple<int>>("valuetuple1", ValueTuple.Create(1)),
        new RecordedCase<(int, string?)>("valuetuple2", (1, "a"), (2, null)),
        new RecordedCase<(int, int, int)>("valuetuple3", (1, 2, 3)),
        new RecordedCase<(int, int, int, int)>("valuetuple4", (1, 2, 3, 4)),
        new RecordedCase<(int, int, int, int, int)>("valuetuple5", (1, 2, 3, 4, 5)),
        new RecordedCase<(int, int, int, int, int, int)>("valuetuple6", (1, 2, 3, 4, 5, 6)),
        new RecordedCase<(int, int, int, int, int, int, int)>("valuetuple7", (1, 2, 3, 4, 5, 6, 7)),
        new RecordedCase<(int, int, int, int, int, int, int, int, string)>("valuetuple9",
            (1, 2, 3, 4, 5, 6, 7, 8, "nine")),
        new RecordedCase<Tuple<int>?>("tuple1", Tuple.Create(1), null),
        new RecordedCase<Tuple<int, string>>("tuple2", Tuple.Create(1, "a")),
        new RecordedCase<Tuple<int, int, int>>("tuple3", Tuple.Create(1, 2, 3)),
        new RecordedCase<Tuple<int, int, int, int>>("tuple4", Tuple.Create(1, 2, 3, 4)),
        new RecordedCase<Tuple<int, int, int, int, int>>("tuple5", Tuple.Create(1, 2, 3, 4, 5)),
        new RecordedCase<Tuple<int, int, int, int, int, int>>("tuple6", Tuple.Create(1, 2, 3, 4, 5, 6)),
        new RecordedCase<Tuple<int, int, int, int, int, int, int>>("tuple7", Tuple.Create(1, 2, 3, 4, 5, 6, 7)),
        new RecordedCase<KeyValuePair<string, int>>("pair", new KeyValuePair<string, int>("k", 1)),
    ];

    private static IEnumerable<RecordedCase> Sequences() =>
    [
        new RecordedCase<int[]?>("array", [], [1, 2], null, [.. Enumerable.Range(0, 70)]),
        new RecordedCase<string?[][]>("arrays", [["a", null], []]),
        new RecordedCase<List<int>?>("list", [1, 2], null),
        new RecordedCase<IReadOnlyList<int>?>("readonlylist", new[] { 3, 4 }, null),
        new RecordedCase<Queue<int>>("queue", new Queue<int>([1, 2, 3])),
        new RecordedCase<Stack<int>>("stack", new Stack<int>([1, 2, 3])),
        new RecordedCase<ImmutableArray<int>>("immutablearray", default, [], [1, 2, 3]),
        new RecordedCase<ImmutableList<string>?>("immutablelist", ["a", "b"], null),
        new RecordedCase<ImmutableQueue<int>>("immutablequeue", ImmutableQueue.Create(1, 2, 3)),
        new RecordedCase<ImmutableStack<int>>("immutablestack", ImmutableStack.Create(1, 2, 3)),
    ];

    private static IEnumerable<RecordedCase> Sets() =>
    [
        new RecordedCase<HashSet<string>?>("hashset", ["b", "a", "ä", "B"], null),
        new RecordedCase<SortedSet<string>>("sortedset",
            new SortedSet<string>(["b", "B", "a"], StringComparer.Ordinal)),
        new RecordedCase<ImmutableHashSet<int>>("immutablehashset", [300, -1, 5]),
        new RecordedCase<ImmutableSortedSet<string>>("immutablesortedset",
            ImmutableSortedSet.Create(StringComparer.Ordinal, "b", "B", "a")),
    ];

    private static IEnumerable<RecordedCase> Maps() =>
    [
        new RecordedCase<Dictionary<string, int>?>("dictionary", new Dictionary<string, int> { ["b"] = 1, ["a"] = 2 },
            null),
        new RecordedCase<SortedDictionary<string, int>>("sorteddictionary",
            new SortedDictionary<string, int>(StringComparer.Ordinal) { ["b"] = 1, ["B"] = 2 }),
        new RecordedCase<ImmutableDictionary<(int, string), long>>("immutabledictionary",
            ImmutableDictionary<(int, string), long>.Empty.Add((300, "x"), 1).Add((2, "y"), 2)),
        new RecordedCase<ImmutableSortedDictionary<string, ImmutableList<int>>>("immutablesorteddictionary",
            ImmutableSortedDictionary.Create<string, ImmutableList<int>>(StringComparer.Ordinal)
                .Add("b", [1]).Add("B", [2])),
    ];

    private static IEnumerable<RecordedCase> Own() =>
    [
        new RecordedCase<Place?>("record", s_place, null),
        new RecordedCase<Point>("struct", new Point(-1, 1), default),
        new RecordedCase<Pair<Place>>("generic", new Pair<Place>(s_place, s_place with { Colour = null })),
        new RecordedCase<Pair<int>>("genericint", new Pair<int>(1, -1)),
        new RecordedCase<Tree>("recursive", new Tree(1, [new Tree(2, []), new Tree(3, [new Tree(4, default)])])),
        new RecordedCase<Ticket>("members", new Ticket { Id = 9, Owner = "me", Where = s_place }, new Ticket()),
        new RecordedCase<ImmutableDictionary<string, Pair<Point?>>>("mixed",
            ImmutableDictionary<string, Pair<Point?>>.Empty.Add("p", new Pair<Point?>(new Point(1, 2), null))),
        new RecordedCase<Lookup<string>>("lookup", Lookup.Of("x"), Lookup<string>.None),
    ];

    private static IEnumerable<RecordedCase> Keys() =>
    [
        new RecordedKeys<bool>("bool", true, false),
        new RecordedKeys<byte>("byte", 0, 200),
        new RecordedKeys<sbyte>("sbyte", -128, 5),
        new RecordedKeys<short>("short", -300, 5),
        new RecordedKeys<ushort>("ushort", 300, 5),
        new RecordedKeys<int>("int", int.MinValue, 5),
        new RecordedKeys<uint>("uint", uint.MaxValue, 5),
        new RecordedKeys<long>("long", long.MinValue, 5, long.MaxValue),
        new RecordedKeys<ulong>("ulong", ulong.MaxValue, 5),
        new RecordedKeys<char>("char", 'ä', '\ud800'),
        new RecordedKeys<string>("string", "", "hé", "😀", new string('k', 300)),
        new RecordedKeys<Guid>("guid", s_guid, Guid.Empty),
        new RecordedKeys<TimeSpan>("timespan", TimeSpan.MinValue, TimeSpan.Zero),
        new RecordedKeys<DateOnly>("date", DateOnly.MaxValue, DateOnly.MinValue),
        new RecordedKeys<TimeOnly>("time", TimeOnly.MaxValue, TimeOnly.MinValue),
        new RecordedKeys<Colour>("enum", Colour.Red, Colour.None),
        new RecordedKeys<Depth>("enum16", Depth.Trench, Depth.Sea),
        new RecordedKeys<(int, string?)>("tuple", (1, "a"), (1, null)),
        new RecordedKeys<Tuple<long, Guid>>("classtuple", Tuple.Create(1L, s_guid), Tuple.Create(2L, s_guid)),
        new RecordedKeys<KeyValuePair<string, int>>("pair", new("a", 1), new("a", 2)),
        new RecordedKeys<(int?, Colour?)>("nullable", (null, Colour.Red), (5, null)),
        new RecordedKeys<Place>("record", s_place, s_place with { Colour = null }),
        new RecordedKeys<Point>("struct", new Point(1, 2), default),
    ];
}
