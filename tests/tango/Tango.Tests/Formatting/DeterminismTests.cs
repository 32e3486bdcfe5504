using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango.Tests.Formatting;

public sealed class DeterminismTests
{
    [Fact]
    public void Unordered_collections_are_written_in_the_order_of_the_encoded_keys()
    {
        string[] keys = ["b", "aa", "a", "", "long key that needs a longer header than the others do", "c"];
        var random = new Random(7);
        var seen = new HashSet<string>();
        for (int round = 0; round < 50; round++)
        {
            random.Shuffle(keys);
            seen.Add(Packed.Hex(keys.ToDictionary(k => k, k => k.Length)));
            seen.Add(Packed.Hex(ImmutableDictionary.CreateRange(keys.Select(k => KeyValuePair.Create(k, k.Length)))));
        }
        Assert.StartsWith("86a000a16101a16201a16301a2616102d936", Assert.Single(seen), StringComparison.Ordinal);
    }

    [Fact]
    public void Sets_too()
    {
        Assert.Equal("93ccff" + "d1fed4" + "ff", Packed.Hex(new HashSet<int> { -1, 255, -300 }));
        Assert.Equal("93ccff" + "d1fed4" + "ff", Packed.Hex(ImmutableHashSet.Create(-300, -1, 255)));
        Assert.Equal([-300, -1, 255], Packed.Read<HashSet<int>>(Packed.Write(new HashSet<int> { -1, 255, -300 }))
            .Order());
    }

    [Fact]
    public void Dictionaries_come_back()
    {
        var map = Enumerable.Range(0, 1000).ToDictionary(i => $"key {i}", i => (long)i * i);
        Assert.Equal(map, Packed.Read<Dictionary<string, long>>(Packed.Write(map)));
        var immutable = map.ToImmutableDictionary();
        Assert.Equal(immutable.OrderBy(p => p.Value),
            Packed.ReadSegmented<ImmutableDictionary<string, long>>(Packed.Write(immutable), 7).OrderBy(p => p.Value));
    }

    [Fact]
    public void Sorted_text_is_ordinal_after_reading_in_every_culture()
    {
        var set = Packed.Read<ImmutableSortedSet<string>>(Packed.Write(new[] { "b", "B", "a", "_" }));
        Assert.Equal(["B", "_", "a", "b"], set);
        Assert.Same(StringComparer.Ordinal, set.KeyComparer);
    }

    [Fact]
    public void Types_whose_equal_values_differ_in_bytes_are_no_version_keys()
    {
        VerifyKey<string>();
        VerifyKey<(Guid, int?, DayOfWeek)>();
        Assert.Equal(1.0m, 1.00m);
        Assert.NotEqual(Packed.Hex(1.0m), Packed.Hex(1.00m));
        Assert.Throws<TangoFormatException>(VerifyKey<decimal>);
        Assert.Throws<TangoFormatException>(VerifyKey<double>);
        Assert.Throws<TangoFormatException>(VerifyKey<DateTime>);
        Assert.Throws<TangoFormatException>(VerifyKey<DateTimeOffset>);
        Assert.Throws<TangoFormatException>(VerifyKey<byte[]>);
        Assert.Throws<TangoFormatException>(VerifyKey<(string, double)>);
    }

    [Fact]
    public void Every_type_whose_equal_values_have_equal_bytes_is_a_version_key()
    {
        VerifyKey<bool>();
        VerifyKey<char>();
        VerifyKey<byte>();
        VerifyKey<sbyte>();
        VerifyKey<short>();
        VerifyKey<ushort>();
        VerifyKey<int>();
        VerifyKey<uint>();
        VerifyKey<long>();
        VerifyKey<ulong>();
        VerifyKey<DayOfWeek>();
        VerifyKey<string>();
        VerifyKey<Guid>();
        VerifyKey<TimeSpan>();
        VerifyKey<DateOnly>();
        VerifyKey<TimeOnly>();
        VerifyKey<Guid?>();
        VerifyKey<KeyValuePair<string, DayOfWeek?>>();
        VerifyKey<(int, (string, TimeOnly?))>();
        VerifyKey<Tuple<ulong, char>>();
    }

    [Fact]
    public void A_part_that_is_no_version_key_is_named()
    {
        AssertNotAKey<float>("Single");
        AssertNotAKey<decimal?>("Decimal");
        AssertNotAKey<(int, (string, DateTime?))>("DateTime");
        AssertNotAKey<KeyValuePair<DateTimeOffset, int>>("DateTimeOffset");
        AssertNotAKey<Tuple<double, int>>("Double");
        AssertNotAKey<(int, ImmutableArray<int>)>("ImmutableArray");
    }

    private static void AssertNotAKey<T>(string culprit)
    {
        var error = Assert.Throws<TangoFormatException>(VerifyKey<T>);
        Assert.Equal(FormatError.NotAKey, error.Error);
        Assert.Contains(culprit, error.Message, StringComparison.Ordinal);
    }

    private static void VerifyKey<T>()
    {
        Closing.Of(typeof(T));
        TangoFormatters.VerifyKey<T>();
    }
}
