using Tango.Formatting;

namespace Tango.Tests.Formatting;

public sealed class RegistryTests
{
    private sealed record Plain(int Value);

    private sealed record Loop(int Value, List<Loop> Next);

    private sealed record Box<T>(T Content);

    private sealed record Late(int Value);

    [Fact]
    public void A_missing_formatter_names_the_type_and_what_needs_it()
    {
        var error = Assert.Throws<TangoFormatException>(TangoFormatters.Get<Dictionary<int, List<Plain>>>);
        Assert.Equal(FormatError.NoFormatter, error.Error);
        Assert.Contains("Plain", error.Message, StringComparison.Ordinal);
        Assert.Contains("needed by System.Collections.Generic.List", error.Message, StringComparison.Ordinal);
        // It stays an error: nothing incomplete was kept.
        Assert.Throws<TangoFormatException>(TangoFormatters.Get<List<Plain>>);
        Assert.Throws<TangoFormatException>(TangoFormatters.Get<Dictionary<int, List<Plain>>>);
    }

    [Fact]
    public void Recursive_types_and_cyclic_values()
    {
        TangoFormatters.Register(new LoopFormatter());
        var value = new Loop(1, [new Loop(2, []), new Loop(3, [])]);
        Loop back = Packed.Read<Loop>(Packed.Write(value));
        Assert.Equal([2, 3], back.Next.Select(n => n.Value));
        value.Next.Add(value);
        Assert.Equal(FormatError.TooDeep, Assert.Throws<TangoFormatException>(() => Packed.Write(value)).Error);
    }

    [Fact]
    public void Open_generic_types()
    {
        TangoFormatters.RegisterGeneric(typeof(Box<>), typeof(BoxFormatter<>));
        Assert.Equal("9203a161", Packed.Hex((3, new Box<string>("a")).ToTuple()));
        Assert.Equal(new Box<int>(5), Packed.Read<Box<int>>([5]));
    }

    [Fact]
    public void A_formatter_cannot_change_under_a_type_in_use()
    {
        TangoFormatters.RegisterGenerated(new LateFormatter(0));
        TangoFormatters.Register(new LateFormatter(1));
        TangoFormatters.RegisterGenerated(new LateFormatter(2));
        Assert.Equal("08", Packed.Hex(new Late(7)));
        Assert.Throws<InvalidOperationException>(() => TangoFormatters.Register(new LateFormatter(3)));
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

    private sealed class LoopFormatter : ITangoFormatter<Loop>
    {
        private ITangoFormatter<List<Loop>> _next = null!;

        public void Resolve() => _next = TangoFormatters.Get<List<Loop>>();

        public void Write(ref MessagePackWriter writer, Loop value)
        {
            writer.WriteArrayHeader(2);
            writer.Write(value.Value);
            _next.Write(ref writer, value.Next);
        }

        public Loop Read(ref MessagePackReader reader)
        {
            reader.ReadArrayHeader(2);
            return new Loop(reader.ReadInt32(), _next.Read(ref reader));
        }
    }

    private sealed class BoxFormatter<T> : ITangoFormatter<Box<T>>
    {
        private ITangoFormatter<T> _content = null!;

        public void Resolve() => _content = TangoFormatters.Get<T>();

        public void Write(ref MessagePackWriter writer, Box<T> value) => _content.Write(ref writer, value.Content);

        public Box<T> Read(ref MessagePackReader reader) => new(_content.Read(ref reader));
    }

    private sealed class LateFormatter(int plus) : ITangoFormatter<Late>
    {
        public void Write(ref MessagePackWriter writer, Late value) => writer.Write(value.Value + plus);

        public Late Read(ref MessagePackReader reader) => new(reader.ReadInt32() - plus);
    }
}
