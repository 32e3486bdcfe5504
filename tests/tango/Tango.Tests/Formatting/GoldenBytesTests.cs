using System.Collections.Immutable;

namespace Tango.Tests.Formatting;

/// <summary>The bytes MessagePack-CSharp's standard resolver writes for the same values: they are in logs, and never
/// change.</summary>
public sealed class GoldenBytesTests
{
    [Flags]
    private enum Small : byte
    {
        None = 0,
        High = 200,
    }

    private enum Signed : short
    {
        Low = -300,
    }

    [Theory]
    [InlineData(0, "00")]
    [InlineData(127, "7f")]
    [InlineData(128, "cc80")]
    [InlineData(255, "ccff")]
    [InlineData(256, "cd0100")]
    [InlineData(65535, "cdffff")]
    [InlineData(65536, "ce00010000")]
    [InlineData(4294967295, "ceffffffff")]
    [InlineData(4294967296, "cf0000000100000000")]
    [InlineData(long.MaxValue, "cf7fffffffffffffff")]
    [InlineData(-1, "ff")]
    [InlineData(-32, "e0")]
    [InlineData(-33, "d0df")]
    [InlineData(-128, "d080")]
    [InlineData(-129, "d1ff7f")]
    [InlineData(-32768, "d18000")]
    [InlineData(-32769, "d2ffff7fff")]
    [InlineData(-2147483648, "d280000000")]
    [InlineData(-2147483649, "d3ffffffff7fffffff")]
    [InlineData(long.MinValue, "d38000000000000000")]
    public void Integers(long value, string hex) => Check(value, hex);

    [Fact]
    public void Primitives()
    {
        Check(true, "c3");
        Check(false, "c2");
        Check((byte)200, "ccc8");
        Check((sbyte)-100, "d09c");
        Check((short)-300, "d1fed4");
        Check((ushort)60000, "cdea60");
        Check(-70000, "d2fffeee90");
        Check(4000000000u, "ceee6b2800");
        Check(ulong.MaxValue, "cfffffffffffffffff");
        Check('ä', "cce4");
        Check(1.5f, "ca3fc00000");
        Check(1.5, "cb3ff8000000000000");
        Check(Small.High, "ccc8");
        Check(Signed.Low, "d1fed4");
        Check((int?)5, "05");
        Check((int?)null, "c0");
    }

    [Fact]
    public void Texts()
    {
        Check<string?>(null, "c0");
        Check("", "a0");
        Check("hé", "a368c3a9");
        Check(new string('a', 31), "bf" + Repeat("61", 31));
        Check(new string('a', 32), "d920" + Repeat("61", 32));
        Check(new string('a', 256), "da0100" + Repeat("61", 256));
        Check(new string('a', 65536), "db00010000" + Repeat("61", 65536));
        Check(Guid.Parse("01234567-89ab-cdef-0123-456789ABCDEF"),
            "d924" + Convert.ToHexStringLower("01234567-89ab-cdef-0123-456789abcdef"u8));
        Check(-12.340m, "a7" + Convert.ToHexStringLower("-12.340"u8));
        Check(decimal.MinValue, "be" + Convert.ToHexStringLower("-79228162514264337593543950335"u8));
        Check(0.0000000000000000000000000001m, "be" + Convert.ToHexStringLower("0.0000000000000000000000000001"u8));
    }

    [Fact]
    public void Binary()
    {
        Assert.Equal("c403010203", Packed.Hex(new byte[] { 1, 2, 3 }));
        Assert.Equal("c400", Packed.Hex(Array.Empty<byte>()));
        Assert.Equal("c0", Packed.Hex<byte[]?>(null));
        Assert.Equal("c50100" + Repeat("00", 256), Packed.Hex(new byte[256]));
        Assert.Equal("c600010000" + Repeat("00", 65536), Packed.Hex(new byte[65536]));
        Assert.Equal("c402" + "0901", Packed.Hex(new ReadOnlyMemory<byte>([9, 1])));
    }

    [Fact]
    public void Times()
    {
        Check(DateTime.UnixEpoch, "d6ff00000000");
        Check(new DateTime(2106, 2, 7, 6, 28, 15, DateTimeKind.Utc), "d6ffffffffff");
        Check(new DateTime(2106, 2, 7, 6, 28, 16, DateTimeKind.Utc), "d7ff0000000100000000");
        Check(DateTime.UnixEpoch.AddTicks(1), "d7ff0000019000000000");
        Check(DateTime.UnixEpoch.AddSeconds(-1), "c70cff00000000ffffffffffffffff");
        Check(DateTime.SpecifyKind(DateTime.MinValue, DateTimeKind.Utc), "c70cff00000000fffffff1886e0900");
        Check(DateTime.SpecifyKind(DateTime.MaxValue, DateTimeKind.Utc), "c70cff3b9ac99c0000003afff4417f");
        Check(new DateTimeOffset(1970, 1, 1, 2, 0, 0, TimeSpan.FromHours(2)), "92d6ff00001c2078");
        Check(new DateTimeOffset(1970, 1, 1, 0, 0, 1, TimeSpan.FromHours(-5)), "92d6ff00000001d1fed4");
        Check(TimeSpan.FromTicks(-1), "ff");
        Check(new DateOnly(1, 1, 2), "01");
        Check(new TimeOnly(0, 0, 1), "ce00989680");
    }

    [Fact]
    public void Tuples()
    {
        Check((1, "a"), "9201a161");
        Check(ValueTuple.Create(7), "9107");
        Check((1, 2, 3, 4, 5, 6, 7, 8), "98" + "01020304050607" + "9108");
        Check(Tuple.Create(1, "a"), "9201a161");
        Check<Tuple<int, int>?>(null, "c0");
        Check(new KeyValuePair<string, int>("k", 1), "92a16b01");
    }

    [Fact]
    public void Sequences()
    {
        Assert.Equal("93010203", Packed.Hex(new[] { 1, 2, 3 }));
        Assert.Equal("9201c0", Packed.Hex(new int?[] { 1, null }));
        Assert.Equal("dc0010" + Repeat("00", 16), Packed.Hex(new int[16]));
        Assert.Equal("dd00010000" + Repeat("00", 65536), Packed.Hex(new int[65536]));
        Assert.Equal("c0", Packed.Hex<List<int>?>(null));
        Assert.Equal("92cc8001", Packed.Hex(new List<byte> { 128, 1 }));
        Assert.Equal("9291019102", Packed.Hex(new[] { new[] { 1 }, [2] }));
        Assert.Equal("920102", Packed.Hex(new Queue<int>([1, 2])));
        Assert.Equal("920201", Packed.Hex(new Stack<int>([1, 2])));
        Assert.Equal("920102", Packed.Hex(ImmutableArray.Create(1, 2)));
        Assert.Equal("c0", Packed.Hex(default(ImmutableArray<int>)));
        Assert.Equal("920102", Packed.Hex(ImmutableList.Create(1, 2)));
        Assert.Equal("920102", Packed.Hex(ImmutableQueue.Create(1, 2)));
        Assert.Equal("920201", Packed.Hex(ImmutableStack.Create(1, 2)));
        Assert.Equal("920102", Packed.Hex(ImmutableSortedSet.Create(2, 1)));
        Assert.Equal("82a16101a16202",
            Packed.Hex(ImmutableSortedDictionary<string, int>.Empty.Add("b", 2).Add("a", 1)));
    }

    private static string Repeat(string hex, int count) => string.Concat(Enumerable.Repeat(hex, count));

    private static void Check<T>(T value, string hex)
    {
        Assert.Equal(hex, Packed.Hex(value));
        Assert.Equal(value, Packed.Read<T>(Convert.FromHexString(hex)));
        Assert.Equal(value, Packed.ReadSegmented<T>(Convert.FromHexString(hex), 3));
    }
}
