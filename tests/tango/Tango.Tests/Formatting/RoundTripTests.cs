using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango.Tests.Formatting;

/// <summary>Random values of every built-in type: what is written is read back, whole, in segments, and skipped
/// exactly.</summary>
public sealed class RoundTripTests
{
    private const int Rounds = 150;
    private readonly Random _random = new(20261121);

    private enum Wide : ulong
    {
        Top = ulong.MaxValue,
    }

    private enum Narrow : sbyte
    {
        Bottom = -128,
    }

    [Fact]
    public void Numbers()
    {
        Check(() => _random.Next(2) == 0);
        Check(() => (byte)Integer());
        Check(() => (sbyte)Integer());
        Check(() => (short)Integer());
        Check(() => (ushort)Integer());
        Check(() => (int)Integer());
        Check(() => (uint)Integer());
        Check(Integer);
        Check(() => (ulong)Integer());
        Check(() => (char)Integer());
        Check(() => BitConverter.Int32BitsToSingle((int)Integer()));
        Check(() => BitConverter.Int64BitsToDouble(_random.NextInt64(long.MinValue, long.MaxValue)));
        Check(
            () => new decimal((int)Integer(), (int)Integer(), (int)Integer(), _random.Next(2) == 0,
                (byte)_random.Next(29)));
        Check(() => (Wide)Integer());
        Check(() => (Narrow)Integer());
        Check(() => _random.Next(3) == 0 ? (long?)null : Integer());
    }

    [Fact]
    public void Texts_and_times()
    {
        Check(Text);
        Check(() => _random.Next(3) == 0 ? null : Bytes());
        Check(() => new Guid(_random.GetItems(Enumerable.Range(0, 256).Select(i => (byte)i).ToArray(), 16)));
        Check(Time);
        Check(
            () =>
                new DateTimeOffset(Math.Clamp(Time().Ticks, TimeSpan.TicksPerDay,
                    DateTime.MaxValue.Ticks - TimeSpan.TicksPerDay),
            TimeSpan.FromMinutes(_random.Next(-14 * 60, (14 * 60) + 1))));
        Check(() => new TimeSpan(Integer()));
        Check(() => DateOnly.FromDayNumber(_random.Next(DateOnly.MaxValue.DayNumber + 1)));
        Check(() => new TimeOnly(_random.NextInt64(TimeOnly.MaxValue.Ticks + 1)));
    }

    [Fact]
    public void Collections()
    {
        Check(() => Items(Integer).ToArray());
        Check(() => Items(Text).ToList());
        Check(() => new Queue<string?>(Items(Text)));
        Check(() => new Stack<long>(Items(Integer)));
        Check(() => Items(Integer).ToHashSet());
        Check(() => new SortedSet<long>(Items(Integer)));
        Check(() => Items(Integer).ToImmutableArray());
        Check(() => Items(Text).ToImmutableList());
        Check(() => ImmutableQueue.CreateRange(Items(Text)));
        Check(() => ImmutableStack.CreateRange(Items(Integer)));
        Check(() => Items(() => (Integer(), Text())).ToImmutableHashSet());
        Check(() => Items(Integer).ToImmutableSortedSet());
        Check(() => Items(Integer).Distinct().ToDictionary(k => k, _ => Text()));
        Check(() => Items(Integer).Distinct().ToImmutableDictionary(k => $"{k}", _ => Items(Time).ToArray()));
        Check(
            () => Items(Integer).Distinct().ToImmutableSortedDictionary(k => k, _ => Tuple.Create(Text(), Integer())));
        Check(
            () =>
                new SortedDictionary<long, bool?>(Items(Integer).Distinct()
                    .ToDictionary(k => k, k => k > 0 ? (bool?)true : null)));
        Check<IReadOnlyList<long>>(() => Items(Integer).ToArray());
    }

    private void Check<T>(Func<T> make)
    {
        for (int round = 0; round < Rounds; round++)
        {
            T value = make();
            byte[] bytes = Packed.Write(value);
            T whole = Packed.Read<T>(bytes);
            Assert.Equal(bytes, Packed.Write(whole));
            Assert.Equal(bytes, Packed.Write(Packed.ReadSegmented<T>(bytes, _random.Next(1, 9))));
            // Values with an order of their own must come back equal too, not only to equal bytes.
            if (value is IEquatable<T> or null) Assert.Equal(value, whole);
            var reader = new MessagePackReader(bytes);
            reader.Skip();
            Assert.True(reader.End);
        }
    }

    /// <summary>Any width, so that every header length comes.</summary>
    private long Integer() => _random.NextInt64(long.MinValue, long.MaxValue) >> _random.Next(64);

    private string? Text() => _random.Next(8) == 0
        ? null
        : string.Concat(Enumerable.Range(0, _random.Next(_random.Next(300) == 0 ? 70_000 : 40))
            .Select(_ => _random.Next(4) switch
        {
            0 => "é",
            1 => "漢",
            2 => "😀",
            _ => ((char)_random.Next(32, 127)).ToString(),
        }));

    private byte[] Bytes()
    {
        var bytes = new byte[_random.Next(_random.Next(100) == 0 ? 70_000 : 300)];
        _random.NextBytes(bytes);
        return bytes;
    }

    private DateTime Time() => _random.Next(3) switch
    {
        0 => new DateTime(_random.NextInt64(DateTime.MaxValue.Ticks + 1), DateTimeKind.Utc),
        1 => DateTime.UnixEpoch.AddSeconds(_random.NextInt64(1L << 33)),
        _ => DateTime.UnixEpoch.AddTicks(_random.NextInt64(1L << 57)),
    };

    private List<T> Items<T>(Func<T> make) =>
        [.. Enumerable.Range(0, _random.Next(_random.Next(50) == 0 ? 400 : 20)).Select(_ => make())];
}
