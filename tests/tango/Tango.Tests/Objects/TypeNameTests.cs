namespace Tango.Tests;

/// <summary>Types have different recorded names: an object of one must not be opened as one of another.</summary>
public class TypeNameTests
{
    private const string Here = "Tango.Tests.TypeNameTests";

    [Fact]
    public void Nested_types_of_generic_types_have_distinct_names() => Assert.Equal(
        [
            $"{Here}+Outer<int32>", $"{Here}+Outer<int32>+A", $"{Here}+Outer<int32>+B", $"{Here}+Outer<string>+A",
            $"{Here}+Outer<int32>+C<string,{Here}+Outer<bool>+A>", $"{Here}+Outer+A<int32>",
        ],
        new[]
        {
            typeof(Outer<int>), typeof(Outer<int>.A), typeof(Outer<int>.B), typeof(Outer<string>.A),
            typeof(Outer<int>.C<string, Outer<bool>.A>), typeof(Outer.A<int>),
        }.Select(TangoTypeName.Of));

    [Fact]
    public void Top_level_types_have_the_golden_names() => Assert.Equal(
        ["int64", "string[]", "guid?", Here, "System.Collections.Generic.KeyValuePair<string,int32>"],
        new[]
        {
            typeof(long), typeof(string[]), typeof(Guid?), typeof(TypeNameTests), typeof(KeyValuePair<string, int>),
        }.Select(TangoTypeName.Of));

    private sealed class Outer<T>
    {
        public sealed class A;

        public sealed class B;

        public sealed class C<T1, T2>;
    }

    private static class Outer
    {
        public sealed class A<T>;
    }
}
