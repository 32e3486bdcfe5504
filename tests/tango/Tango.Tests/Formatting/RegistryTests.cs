using MessagePack.Formatters;
using Tango.Formatting;

namespace Tango.Tests.Formatting;

public sealed class RegistryTests
{
    private sealed record Plain(int Value);

    private sealed record Loop(int Value, List<Loop> Next);

    private sealed record Box<T>(T Content);

    private sealed record Late(int Value);

    [Fact]
    public void Missing_formatter_names_the_type_and_the_dependent_type()
    {
        ClosedFormatters.List<Plain>();
        ClosedFormatters.Dictionary<int, List<Plain>>();
        var error = Assert.Throws<TangoFormatException>(TangoFormatters.Verify<Dictionary<int, List<Plain>>>);
        Assert.Equal(FormatError.NoFormatter, error.Error);
        Assert.Contains("Plain", error.Message, StringComparison.Ordinal);
        Assert.Contains("needed by System.Collections.Generic.List", error.Message, StringComparison.Ordinal);
        // A failed verification stays an error.
        Assert.Throws<TangoFormatException>(TangoFormatters.Verify<List<Plain>>);
        Assert.Throws<TangoFormatException>(TangoFormatters.Verify<Dictionary<int, List<Plain>>>);
    }

    [Fact]
    public void Formatter_of_a_composed_type_is_not_looked_for_by_reflection()
    {
        var error = Assert.Throws<TangoFormatException>(TangoFormatters.Verify<Queue<(ushort, ushort)>>);
        Assert.Equal(FormatError.NoFormatter, error.Error);
        Assert.Contains("call ClosedFormatters", error.Message, StringComparison.Ordinal);
        ClosedFormatters.Queue<(ushort, ushort)>();
        error = Assert.Throws<TangoFormatException>(TangoFormatters.Verify<Queue<(ushort, ushort)>>);
        Assert.Contains("needed by System.Collections.Generic.Queue", error.Message, StringComparison.Ordinal);
        ClosedFormatters.ValueTuple<ushort, ushort>();
        TangoFormatters.Verify<Queue<(ushort, ushort)>>();
    }

    [Fact]
    public void Recursive_types()
    {
        TangoFormatters.Register(new LoopFormatter(), "loop", 1, new Loop(7, []));
        ClosedFormatters.List<Loop>();
        var value = new Loop(1, [new Loop(2, []), new Loop(3, [])]);
        Loop back = Packed.Read<Loop>(Packed.Write(value));
        Assert.Equal([2, 3], back.Next.Select(n => n.Value));
    }

    [Fact]
    public void Generic_types_of_the_users()
    {
        TangoFormatters.Register(new BoxFormatter<string>(), "box", 1, new Box<string>("a"));
        TangoFormatters.Register(new BoxFormatter<int>(), "box", 1, new Box<int>(7));
        Assert.Equal("9203a161", Packed.Hex((3, new Box<string>("a")).ToTuple()));
        Assert.Equal(new Box<int>(5), Packed.Read<Box<int>>([5]));
    }

    [Fact]
    public void A_formatter_cannot_change_under_a_type_in_use()
    {
        TangoFormatters.RegisterGenerated(new LateFormatter(0));
        TangoFormatters.Register(new LateFormatter(1), "late", 1, new Late(7));
        TangoFormatters.RegisterGenerated(new LateFormatter(2));
        Assert.Equal("08", Packed.Hex(new Late(7)));
        Assert.Throws<InvalidOperationException>(
            () => TangoFormatters.Register(new LateFormatter(3), "late", 1, new Late(7)));
    }

    [Fact]
    public void Many_threads_meet_only_complete_formatters()
    {
        Parallel.For(0, 64, i =>
        {
            Assert.Equal("819201a161" + "92c3c2",
                Packed.Hex(new Dictionary<(short, string), bool[]> { [(1, "a")] = [true, false] }));
        });
    }

    [Fact]
    public void A_formatter_whose_sample_does_not_come_back_is_refused()
    {
        TangoFormatters.Register(new TiltedFormatter(), "tilted", 1, new Tilted(7));
        var error = Assert.Throws<TangoFormatException>(TangoFormatters.Verify<Tilted>);
        Assert.Contains("Tilted", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Serializer_that_loses_a_part_of_the_sample_is_refused()
    {
        TangoFormatters.Register(new LossyFormatter(), "lossy", 1, new Lossy(1, 2));
        ClosedFormatters.List<Lossy?>();
        // A sample of null does not show the loss.
        var error = Assert.Throws<TangoFormatException>(TangoFormatters.Verify<List<Lossy?>>);
        Assert.Contains("Lossy", error.Message, StringComparison.Ordinal);
    }

    private sealed record Lossy(int Kept, int Lost);

    /// <summary>Forgets to read what it writes.</summary>
    private sealed class LossyFormatter : IMessagePackFormatter<Lossy?>
    {
        public void Serialize(ref MessagePackWriter writer, Lossy? value, MessagePackSerializerOptions options)
        {
            writer.WriteArrayHeader(2);
            writer.Write(value?.Kept ?? 0);
            writer.Write(value?.Lost ?? 0);
        }

        public Lossy? Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options)
        {
            reader.ReadArrayHeader(2);
            var kept = reader.ReadInt32();
            reader.Skip();
            return new Lossy(kept, 0);
        }
    }

    private readonly record struct Tilted(int Value);

    /// <summary>Writes another value than it reads.</summary>
    private sealed class TiltedFormatter : IMessagePackFormatter<Tilted>
    {
        public void Serialize(ref MessagePackWriter writer, Tilted value, MessagePackSerializerOptions options) =>
            writer.Write(value.Value + 1);

        public Tilted Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options) =>
            new(reader.ReadInt32());
    }

    private sealed class LoopFormatter : IMessagePackFormatter<Loop>
    {
        public void Serialize(ref MessagePackWriter writer, Loop value, MessagePackSerializerOptions options)
        {
            writer.WriteArrayHeader(2);
            writer.Write(value.Value);
            TangoFormatters.Write(ref writer, value.Next);
        }

        public Loop Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options)
        {
            reader.ReadArrayHeader(2);
            return new Loop(reader.ReadInt32(), TangoFormatters.Read<List<Loop>>(ref reader));
        }
    }

    private sealed class BoxFormatter<T> : IMessagePackFormatter<Box<T>>
    {
        public void Serialize(ref MessagePackWriter writer, Box<T> value, MessagePackSerializerOptions options) =>
            TangoFormatters.Write(ref writer, value.Content);

        public Box<T> Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options) =>
            new(TangoFormatters.Read<T>(ref reader));
    }

    private sealed class LateFormatter(int plus) : IMessagePackFormatter<Late>
    {
        public void Serialize(ref MessagePackWriter writer, Late value, MessagePackSerializerOptions options) =>
            writer.Write(value.Value + plus);

        public Late Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options) =>
            new(reader.ReadInt32() - plus);
    }
}
