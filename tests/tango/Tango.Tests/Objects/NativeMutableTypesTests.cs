using Tango.Formatting;

namespace Tango.Tests;

/// <summary>Which values readers get copies of where a program cannot look at a type's fields: in a native
/// one.</summary>
public sealed class NativeMutableTypesTests
{
    static NativeMutableTypesTests()
    {
        TangoFormatters.RegisterGenerated<Fixed?>(new FixedFormatter());
        TangoFormatters.RegisterGenerated<Loose?>(new LooseFormatter());
    }

    [Theory]
    [InlineData(typeof(int), false)]
    [InlineData(typeof(string), false)]
    [InlineData(typeof(DateTime?), false)]
    [InlineData(typeof(System.Collections.Immutable.ImmutableList<string>), false)]
    [InlineData(typeof(Fixed), false)]
    [InlineData(typeof((int, Fixed)), false)]
    [InlineData(typeof(List<int>), true)]
    [InlineData(typeof(byte[]), true)]
    [InlineData(typeof(Loose), true)]
    [InlineData(typeof((int, Loose)), true)]
    // Without a generated formatter nothing is known of its fields.
    [InlineData(typeof(Unknown), true)]
    public void Type_without_known_fields_is_shared_only_with_an_immutable_formatter(Type type, bool isMutable) =>
        Assert.Equal(isMutable, MutableTypes.IsMutable(type, showsFields: false));

    [Theory]
    [InlineData(typeof(Fixed), false)]
    [InlineData(typeof(Loose), true)]
    [InlineData(typeof(Unknown), false)]
    public void Type_with_known_fields_is_mutable_if_a_field_is(Type type, bool isMutable) =>
        Assert.Equal(isMutable, MutableTypes.IsMutable(type, showsFields: true));

    private sealed record Fixed(int X);

    private sealed record Unknown(int X);

    private sealed class Loose
    {
        public int X { get; set; }
    }

    private sealed class FixedFormatter : GeneratedFormatter<Fixed>, IGeneratedFormatter
    {
        public bool IsImmutable => true;
    }

    private sealed class LooseFormatter : GeneratedFormatter<Loose>;

    private abstract class GeneratedFormatter<T> : MessagePack.Formatters.IMessagePackFormatter<T?>, IGeneratedFormatter
        where T : class
    {
        public IReadOnlyList<Type> Members => [typeof(int)];

        public bool HasValueEquality => true;

        public void Serialize(ref MessagePackWriter writer, T? value, MessagePackSerializerOptions options) =>
            writer.WriteNil();

        public T? Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options) => null;
    }
}
