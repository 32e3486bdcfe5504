using System.Buffers;
using System.Collections.Immutable;
using MessagePack.Formatters;
using Tango.Formatting;

namespace Tango.Tests.Formatting;

public sealed class DamagedInputTests
{
    private delegate object? Decode(byte[] bytes);

    private static readonly Decode[] Decoders =
    [
        b => Packed.Read<bool>(b), b => Packed.Read<sbyte>(b), b => Packed.Read<ulong>(b), b => Packed.Read<double>(b),
        b => Packed.Read<char>(b),
        b => Packed.Read<string>(b), b => Packed.Read<byte[]>(b), b => Packed.Read<Guid>(b),
        b => Packed.Read<decimal>(b),
        b => Packed.Read<DateTime>(b), b => Packed.Read<DateTimeOffset>(b), b => Packed.Read<DateOnly>(b),
        b => Packed.Read<TimeOnly>(b),
        b => Packed.Read<DayOfWeek>(b), b => Packed.Read<int?>(b), b => Packed.Read<(int, string)>(b),
        b => Packed.Read<long[]>(b),
        b => Packed.Read<List<string?[]>>(b), b => Packed.Read<HashSet<int>>(b),
        b => Packed.Read<Dictionary<int, byte[]>>(b),
        b => Packed.Read<ImmutableSortedDictionary<string, ImmutableArray<int>>>(b),
        b => Packed.Read<ImmutableHashSet<long>>(b),
        b => Packed.Read<ImmutableQueue<int>>(b), b => Packed.Read<Tuple<int, DateTime>>(b),
    ];

    [Fact]
    public void Decoder_of_any_bytes_gives_a_value_or_a_typed_exception()
    {
        var random = new Random(4711);
        var values = 0;
        for (int round = 0; round < 40_000; round++)
        {
            var bytes = new byte[random.Next(0, 40)];
            random.NextBytes(bytes);
            // Bias towards headers with lengths, where damage would cost most.
            if (bytes.Length > 0 && random.Next(2) == 0) bytes[0] = (byte)random.Next(0xc4, 0xe0);
            Decode decode = Decoders[random.Next(Decoders.Length)];
            if (TryDecode(decode, bytes)) values++;
            SkipOrThrow(bytes);
        }
        Assert.InRange(values, 100, 39_000);
    }

    [Fact]
    public void Claimed_length_without_bytes_allocates_no_elements()
    {
        byte[][] inputs =
        [
            Convert.FromHexString("dd7fffffff"), Convert.FromHexString("ddffffffff00"),
            Convert.FromHexString("df7fffffff0000"),
            Convert.FromHexString("db7fffffff61"), Convert.FromHexString("c67fffffff00"),
            Convert.FromHexString("c9ffffffffff00"),
        ];
        foreach (byte[] input in inputs)
        {
            foreach (Decode decode in Decoders) TryDecode(decode, input);
            long before = GC.GetAllocatedBytesForCurrentThread();
            foreach (Decode decode in Decoders) Assert.False(TryDecode(decode, input));
            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 200_000);
        }
    }

    [Fact]
    public void Claimed_elements_with_bytes_present_allocate_at_most_the_size_of_the_elements()
    {
        // The bytes for the count are there, but the first element is wrong.
        var bytes = new byte[1_000_005];
        bytes.AsSpan().Fill(0xc1);
        Convert.FromHexString("dd000f4240").CopyTo(bytes, 0);
        Assert.Throws<TangoFormatException>(() => Packed.Read<Guid[]>(bytes));
        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Throws<TangoFormatException>(() => Packed.Read<Guid[]>(bytes));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, (16 * 1_000_000) + 100_000);
    }

    [Fact]
    public void Every_proper_prefix_of_a_value_is_refused()
    {
        var value = ImmutableDictionary<string, (DateTime, decimal, byte[])>.Empty
            .Add("one", (DateTime.UnixEpoch.AddTicks(1), 1.50m, [1, 2, 3]))
            .Add("two", (DateTime.UnixEpoch.AddSeconds(-9), decimal.MinValue, []));
        byte[] bytes = Packed.Write(value);
        for (int length = 0; length < bytes.Length; length++)
        {
            byte[] prefix = bytes[..length];
            var error =
                Assert.Throws<TangoFormatException>(
                    () => Packed.Read<ImmutableDictionary<string, (DateTime, decimal, byte[])>>(prefix));
            Assert.Equal(FormatError.UnexpectedEnd, error.Error);
            Assert.InRange(error.Offset, 0, length);
        }
    }

    [Fact]
    public void Nesting_is_bounded_but_skipping_is_not()
    {
        byte[] nested = [.. Enumerable.Repeat((byte)0x91, 100_000), 0xc0];
        var reader = new MessagePackReader(nested);
        reader.SkipValue();
        Assert.True(reader.End);
        TangoFormatters.Register(new NestFormatter(), "nest", 1, new Nest(1));
        Assert.Equal(64, Packed.Read<Nest>([.. Enumerable.Repeat((byte)0x91, 64), 0xc0]).Depth);
        Assert.Equal(FormatError.TooDeep,
            Assert.Throws<TangoFormatException>(() => Packed.Read<Nest>(nested)).Error);
    }

    [Fact]
    public void Damage_is_named()
    {
        Assert.Equal(FormatError.WrongType, Refused<int>("a161"));
        Assert.Equal(FormatError.WrongType, Refused<int>("c0"));
        Assert.Equal(FormatError.OutOfRange, Refused<byte>("cd0100"));
        Assert.Equal(FormatError.OutOfRange, Refused<long>("cfffffffffffffffff"));
        Assert.Equal(FormatError.OutOfRange, Refused<uint>("ff"));
        Assert.Equal(FormatError.WrongType, Refused<(int, int)>("93010203"));
        Assert.Equal(FormatError.Invalid, Refused<string>("a1ff"));
        Assert.Equal(FormatError.WrongType, Refused<Guid>("a161"));
        Assert.Equal(FormatError.WrongType, Refused<decimal>("a161"));
        Assert.Equal(FormatError.OutOfRange, Refused<DateTime>("c70cff000000007fffffffffffffff"));
        Assert.Equal(FormatError.WrongType, Refused<DateTime>("d60500000000"));
        Assert.Equal(FormatError.OutOfRange, Refused<DateTimeOffset>("92d6ff00001c20cd7fff"));
        Assert.Equal(FormatError.Invalid, Refused<HashSet<int>>("920101"));
        Assert.Equal(FormatError.Invalid, Refused<Dictionary<int, int>>("8201010102"));
        Assert.Equal(FormatError.Invalid, Refused<ImmutableDictionary<int, int>>("8201010101"));
        Assert.Equal(FormatError.Invalid, Refused<Dictionary<string, int>>("81c001"));
    }

    [Fact]
    public void Text_that_would_not_come_back_is_refused_when_written()
    {
        Assert.Throws<TangoFormatException>(() => Packed.Write("half \ud800"));
    }

    [Fact]
    public void Raw_and_skip_step_over_the_same_bytes_in_any_segmentation()
    {
        byte[] bytes = [.. Packed.Write(new Dictionary<string, int[]> { ["a"] = [1, 70000], ["b"] = [] }),
            .. Packed.Write(DateTime.UnixEpoch), 0x2a];
        for (int size = 1; size <= bytes.Length; size++)
        {
            var reader = new MessagePackReader(Packed.Segments(bytes, size));
            Assert.Equal(MessagePackType.Map, reader.NextMessagePackType);
            byte[] raw = reader.ReadRaw().ToArray();
            Assert.Equal(bytes[..raw.Length], raw);
            Assert.Equal(MessagePackType.Extension, reader.NextMessagePackType);
            reader.SkipValue();
            Assert.Equal(42, reader.ReadInt32());
            Assert.True(reader.End);
        }
    }

    private static FormatError Refused<T>(string hex) =>
        Assert.Throws<TangoFormatException>(() => Packed.Read<T>(Convert.FromHexString(hex))).Error;

    private static bool TryDecode(Decode decode, byte[] bytes)
    {
        try
        {
            decode(bytes);
            return true;
        }
        catch (TangoFormatException)
        {
            return false;
        }
        catch (Xunit.Sdk.TrueException)
        {
            // A value, with bytes left behind it.
            return true;
        }
    }

    private static void SkipOrThrow(byte[] bytes)
    {
        var reader = new MessagePackReader(new ReadOnlySequence<byte>(bytes));
        try
        {
            reader.SkipValue();
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
        }
    }

    /// <summary>An array of one, which is nil or the next.</summary>
    private sealed record Nest(int Depth);

    private sealed class NestFormatter : IMessagePackFormatter<Nest?>
    {
        public void Serialize(ref MessagePackWriter writer, Nest? value, MessagePackSerializerOptions options) =>
            throw new NotSupportedException();

        public Nest? Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options)
        {
            if (reader.TryReadNil()) return null;
            reader.ReadArrayHeader(1);
            options.Security.DepthStep(ref reader);
            var inner = TangoFormatters.Read<Nest?>(ref reader);
            reader.Depth--;
            return new Nest((inner?.Depth ?? 0) + 1);
        }
    }
}
