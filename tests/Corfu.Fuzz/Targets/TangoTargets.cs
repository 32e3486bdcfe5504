using System.Buffers;
using Tango.Testing;
using Tango;
using Tango.Collections;
using Tango.Formatting;

namespace Corfu.Fuzz;

/// <summary>Values in MessagePack, and the records of Tango as a runtime plays them.</summary>
public static class TangoTargets
{
    private delegate void Read(byte[] bytes);

    private static readonly Read[] Readers =
    [
        Value<bool>, Value<long>, Value<ulong>, Value<double>, Value<char>, Value<string>, Value<byte[]>, Value<Guid>,
        Value<decimal>, Value<DateTime>,
        Value<DateTimeOffset>, Value<DayOfWeek>, Value<int?>, Value<(int, string)>, Value<long[]>,
        Value<List<string?[]>>, Value<HashSet<int>>,
        Value<Dictionary<int, byte[]>>, Value<ImmutableSortedDictionary<string, ImmutableArray<int>>>,
        Value<ImmutableHashSet<long>>, Value<ImmutableQueue<int>>,
    ];

    public static IEnumerable<Target> All()
    {
        Close();
        byte[][] values =
        [
            Packed(new List<string?[]> { new[] { "a", null, "longer than a few" } }),
            Packed(new Dictionary<int, byte[]> { [1] = [1, 2], [2] = [] }),
            Packed((5, "text")), Packed(1234567890123m), Packed(DateTime.UnixEpoch), Packed(Guid.Empty),
            Packed(new long[] { 1, -1, long.MaxValue }),
            Packed(ImmutableSortedDictionary<string, ImmutableArray<int>>.Empty.Add("k", [1, 2, 3])),
            Packed(new HashSet<int> { 1, 2, 3 }),
        ];
        yield return new Target("messagepack", 160, values, Values, typeof(TangoException)) { PerByte = 2048 };
        yield return new Target("tango dump", 40, TangoPlayer.Samples(), Dump) { PerByte = 4096 };
        var player = new TangoPlayer();
        yield return new Target("tango records", 2, TangoPlayer.Samples(), player.Play,
            typeof(TangoException))
        { Allowance = 4 << 20, PerByte = 4096 };
        foreach (var target in Parts()) yield return target;
    }

    // The parts that playback and openings read.
    private static IEnumerable<Target> Parts()
    {
        Type[] damage =
            [typeof(TangoException), typeof(MessagePackSerializationException), typeof(EndOfStreamException),
                typeof(OverflowException)];
        yield return new Target("tango parts", 40, TangoPlayer.Samples(), FuzzedRecords.Feed, damage)
        { PerByte = 4096 };
        var directory = new FuzzedDirectory();
        yield return new Target("tango directory", 20, directory.Samples, directory.Feed, damage)
        { PerByte = 4096 };
        var checkpoint = new FuzzedCheckpoint();
        yield return new Target("tango chunk", 40, checkpoint.Chunks, checkpoint.FeedChunk, typeof(TangoException));
        yield return new Target("tango final", 20, checkpoint.Finals, checkpoint.FeedFinal, typeof(TangoException))
        { Allowance = 2 << 20 };
        yield return new Target("tango checkpoint", 20, [checkpoint.Head], checkpoint.FeedHead, typeof(TangoException))
        { Allowance = 2 << 20 };
        // A state with a name twice is refused by the collection; whatever LoadState throws, no checkpoint is loaded.
        yield return new Target("tango state", 40, FuzzedViews.Samples(), FuzzedViews.Feed,
            [.. damage, typeof(ArgumentException)])
        { Allowance = 2 << 20, PerByte = 4096 };
    }

    // As `corfu log dump` shows what it finds.
    private static void Dump(byte[] payload)
    {
        foreach (var record in Cli.TangoRecords.Read(payload)) _ = Cli.TangoRecords.ToLine(record);
    }

    private static void Values(byte[] bytes)
    {
        // A choice above the readers' number: some inputs are only skipped.
        var which = bytes.Length == 0 ? 0 : (bytes[^1] + bytes.Length) % (Readers.Length + 1);
        if (which < Readers.Length) Readers[which](bytes);
        else Skip(bytes);
    }

    private static void Skip(byte[] bytes)
    {
        var reader = new MessagePackReader(bytes);
        try
        {
            reader.SkipValue();
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            // As playback takes it: the record cannot be read.
        }
    }

    // No object here stores them.
    private static void Close()
    {
        ClosedFormatters.Enum<DayOfWeek>();
        ClosedFormatters.Nullable<int>();
        ClosedFormatters.ValueTuple<int, string>();
        ClosedFormatters.Array<long>();
        ClosedFormatters.Array<string?>();
        ClosedFormatters.List<string?[]>();
        ClosedFormatters.HashSet<int>();
        ClosedFormatters.Dictionary<int, byte[]>();
        ClosedFormatters.ImmutableArray<int>();
        ClosedFormatters.ImmutableSortedDictionary<string, ImmutableArray<int>>();
        ClosedFormatters.ImmutableHashSet<long>();
        ClosedFormatters.ImmutableQueue<int>();
    }

    private static byte[] Packed<T>(T value) => TangoFormatters.ToBytes(value).ToArray();

    private static void Value<T>(byte[] bytes)
    {
        var reader = new MessagePackReader(bytes);
        _ = TangoFormatters.Read<T>(ref reader);
    }
}
