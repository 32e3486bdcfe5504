using Tango.Formatting;

namespace Tango.Tests.Formatting;

/// <summary>Types that generated code cannot name: what the error of an opening says.</summary>
public sealed class HiddenTypeTests
{
    private enum Colour
    {
        Red,
    }

    private sealed record Plain(int Value);

    private static class Inner
    {
        internal enum Shape
        {
            Round,
        }
    }

    [Fact]
    public void Private_type_is_named_with_advice()
    {
        Says<Colour>("generated code cannot name Tango.Tests.Formatting.HiddenTypeTests+Colour, which is private: make "
            + "it internal, or call ClosedFormatters where it is visible");
        Says<Plain>("generated code cannot name Tango.Tests.Formatting.HiddenTypeTests+Plain, which is private: make "
            + "it internal and mark it [MessagePackObject], or call TangoFormatters.Register");
        Says<List<Plain[]>>("HiddenTypeTests+Plain, which is private: make it internal, or call ClosedFormatters");
        Says<List<Inner.Shape>>("HiddenTypeTests+Inner+Shape, which is private");
        Assert.Equal((0, 0), ((int)Colour.Red, (int)Inner.Shape.Round));
    }

    [Fact]
    public void Private_type_closed_where_visible_is_stored()
    {
        ClosedFormatters.Enum<Inner.Shape>();
        ClosedFormatters.Array<Inner.Shape>();
        TangoFormatters.Verify<Inner.Shape[]>();
    }

    private static void Says<T>(string what)
    {
        var error = Assert.Throws<TangoFormatException>(TangoFormatters.Verify<T>);
        Assert.Equal(FormatError.NoFormatter, error.Error);
        Assert.Contains(what, error.Message, StringComparison.Ordinal);
    }
}
