using Tango.Formatting;

namespace Tango.Tests;

/// <summary>Serializers of the user's have a name and a version, which the directory keeps with the objects.</summary>
public sealed class SerializerTests
{
    [Fact]
    public async Task Directory_records_the_serializers_of_the_types_that_an_object_stores()
    {
        await using var world = new World();
        var writer = world.NewRuntime();
        await (await writer.OpenAsync<Ledger>("ledger", OpenMode.Create)).PutAsync(5);
        Assert.Equal("test-ledger with test-money/2", Assert.Single(await writer.Directory.ListAsync()).TypeName);

        var reader = world.NewRuntime();
        Assert.Equal(5, await (await reader.OpenAsync<Ledger>("ledger", OpenMode.Create)).SumAsync());
    }

    [Fact]
    public async Task Another_version_is_not_opened()
    {
        await using var world = new World();
        await world.NewRuntime().OpenAsync<Renamed<NewerSerializer>>("ledger", OpenMode.Create);
        var runtime = world.NewRuntime();
        var error = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.OpenAsync<Ledger>("ledger", OpenMode.Create));
        Assert.Contains("test-money/3", error.Message, StringComparison.Ordinal);
        Assert.Contains("test-money/2", error.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.OpenWriteOnlyAsync<Ledger>("ledger", OpenMode.Create));
    }

    [Fact]
    public async Task Program_without_the_serializer_does_not_open_the_object()
    {
        await using var world = new World();
        await world.NewRuntime().OpenAsync<Ledger>("ledger", OpenMode.Create);
        var error = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await world.NewRuntime().OpenAsync<Renamed<NoSerializer>>("ledger", OpenMode.Create));
        Assert.Contains("another serializer", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Objects_from_before_serializers_had_names_open()
    {
        await using var world = new World();
        await (await world.NewRuntime().OpenAsync<Renamed<NoSerializer>>("ledger", OpenMode.Create)).PutAsync(3);
        var ledger = await world.NewRuntime().OpenAsync<Ledger>("ledger", OpenMode.Create);
        await ledger.PutAsync(4);
        Assert.Equal(7, await ledger.SumAsync());
    }

    [Fact]
    public async Task Members_of_groups_too()
    {
        await using var world = new World();
        await world.NewRuntime().OpenGroupAsync("old", group => group.Add<Renamed<NoSerializer>>("a"));
        await world.NewRuntime().OpenGroupAsync("newer", group => group.Add<Renamed<NewerSerializer>>("b"));
        var runtime = world.NewRuntime();
        await runtime.OpenGroupAsync("old", group => group.Add<Ledger>("a"));
        var error = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.OpenGroupAsync("newer", group => group.Add<Ledger>("b")));
        Assert.Contains("test-money/3", error.Message, StringComparison.Ordinal);

        // An object of another serializer has no view here, and does not keep the other members from being opened.
        await world.NewRuntime().OpenGroupAsync("two", group =>
        {
            group.Add<Renamed<Plain>>("c");
            group.Add<Renamed<NewerSerializer>>("d");
        });
        var lists = world.NewRuntime(new TangoOptions { Types = new TangoTypeRegistry().Add<Ledger>() });
        await lists.OpenAsync<Renamed<Plain>>("c");
        error = await Assert.ThrowsAsync<TangoDirectoryException>(async () => await lists.OpenAsync<Ledger>("d"));
        Assert.Contains("another serializer", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Serializer_has_one_version_in_a_program_and_is_registered_before_the_first_use()
    {
        TangoFormatters.Register(new MarkFormatter<int>(), "test-mark", 1, new Mark<int>(7));
        TangoFormatters.Register(new MarkFormatter<long>(), "test-mark", 1, new Mark<long>(7));
        Assert.Throws<InvalidOperationException>(
            () => TangoFormatters.Register(new MarkFormatter<short>(), "test-mark", 2, new Mark<short>(7)));
        TangoFormatters.Verify<Mark<int>>();
        Assert.Throws<InvalidOperationException>(
            () => TangoFormatters.Register(new MarkFormatter<int>(), "test-mark", 1, new Mark<int>(7)));
    }

    [Theory]
    [InlineData("", 1)]
    [InlineData("a b", 1)]
    [InlineData("a/b", 1)]
    [InlineData("a,", 1)]
    [InlineData("ä", 1)]
    [InlineData("a", 0)]
    public void Serializer_name_with_separators_or_a_version_of_zero_is_refused(string name, int version) =>
        Assert.ThrowsAny<ArgumentException>(
            () => TangoFormatters.Register(new MarkFormatter<Guid>(), name, version, new Mark<Guid>(7)));

    [Theory]
    [InlineData("ledger", "ledger", 0)]
    [InlineData("ledger with a/1", "ledger", 1)]
    [InlineData("lists with care with a-b.c_d/1, b/20", "lists with care", 2)]
    [InlineData("lists with care", "lists with care", 0)]
    [InlineData("lists with a/0", "lists with a/0", 0)]
    [InlineData("lists with a/1,b/2", "lists with a/1,b/2", 0)]
    [InlineData(" with a/1", " with a/1", 0)]
    public void Recorded_type_names(string recorded, string plain, int serializers)
    {
        var parsed = RecordedTypeName.Parse(recorded);
        Assert.Equal(plain, parsed.Plain);
        Assert.Equal(serializers, parsed.Serializers.Length);
        Assert.Equal(recorded, parsed.ToString());
    }

    private sealed class NewerSerializer : Renamed<NewerSerializer>.IName
    {
        public static string Name => "test-ledger with test-money/3";
    }

    private sealed class NoSerializer : Renamed<NoSerializer>.IName
    {
        public static string Name => "test-ledger";
    }

    private sealed class Plain : Renamed<Plain>.IName
    {
        public static string Name => "test-plain";
    }

    private readonly record struct Mark<T>(int Value);

    private sealed class MarkFormatter<T> : MessagePack.Formatters.IMessagePackFormatter<Mark<T>>
    {
        public void Serialize(ref MessagePackWriter writer, Mark<T> value, MessagePackSerializerOptions options) =>
            writer.Write(value.Value);

        public Mark<T> Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options) =>
            new(reader.ReadInt32());
    }
}
