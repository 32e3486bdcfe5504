using Microsoft.CodeAnalysis;

namespace Tango.Generators.Tests;

/// <summary>R18: only types whose equal values have equal bytes are version keys, also inside others.</summary>
public sealed class VersionKeyTests
{
    private const string Types =
        """
        public enum Kind : byte { A }
        [MessagePackObject] public sealed record Good(
            [property: Key(0)] Guid Id, [property: Key(1)] (Kind?, string) Part, [property: Key(2)] DateOnly? Day);
        [MessagePackObject] public sealed record Price([property: Key(0)] int Id, [property: Key(1)] decimal Amount);
        [MessagePackObject] public sealed record Deep([property: Key(0)] (int, Price?)? Inner);
        [MessagePackObject] public sealed class Plain { [Key(0)] public int Id { get; init; } }
        """;

    [Fact]
    public async Task Types_with_one_encoding_are_accepted()
    {
        string[] keys =
        [
            "sbyte", "byte", "short", "ushort", "int", "uint", "long", "ulong", "bool", "char", "Kind", "string",
            "Guid", "TimeSpan", "DateOnly", "TimeOnly", "int?", "Kind?", "TimeOnly?", "(int, (string, Guid?))",
            "Tuple<long, char>", "KeyValuePair<string, bool>", "Good", "(Good, int)",
        ];
        Assert.Empty(await Compiler.Analyze(Source(keys)));
    }

    [Fact]
    public async Task Types_with_several_encodings_are_refused_and_named()
    {
        (string Key, string Culprit)[] keys =
        [
            ("decimal", "decimal"), ("float", "float"), ("double", "double"), ("DateTime", "DateTime"),
            ("DateTimeOffset", "DateTimeOffset"), ("decimal?", "decimal"), ("(int, DateTime?)", "DateTime"),
            ("(int, (string, DateTimeOffset))", "DateTimeOffset"), ("Tuple<float, int>", "float"),
            ("KeyValuePair<string, double>", "double"), ("Price", "decimal"), ("Deep", "decimal"),
            ("(Good, Deep)?", "decimal"), ("Plain", "Plain"), ("int[]", "int[]"), ("ImmutableArray<int>",
            "ImmutableArray<int>"), ("ReadOnlyMemory<byte>", "ReadOnlyMemory<byte>"),
        ];
        var found = (await Compiler.Analyze(Source([.. keys.Select(k => k.Key)])))
            .OrderBy(d => d.Location.SourceSpan.Start).ToArray();
        Assert.Equal(Enumerable.Repeat("TANGO013", keys.Length), found.Select(d => d.Id));
        for (int i = 0; i < keys.Length; i++)
            Assert.Contains(keys[i].Culprit, found[i].GetMessage(), StringComparison.Ordinal);
    }

    /// <summary>A dictionary calls it, and the version table compares bytes: an update would be lost.</summary>
    [Theory]
    [InlineData("public readonly record struct Name([property: Key(0)] string Text) : IEquatable<Name>")]
    [InlineData("public readonly record struct Name([property: Key(0)] string Text) : IMine, IEquatable<Name>")]
    [InlineData("public struct Name : IEquatable<Name>")]
    public async Task A_key_with_an_explicit_Equals_is_refused(string declaration)
    {
        string type = "public interface IMine;\n[MessagePackObject] " + declaration + """
            {
                %MEMBER%
                bool IEquatable<Name>.Equals(Name other) => true;
            }
            """.Replace("%MEMBER%", declaration.Contains("record", StringComparison.Ordinal)
                ? ""
                : "[Key(0)] public string Text { get; init; }", StringComparison.Ordinal);
        var found = await Compiler.Analyze(type + Sources.Object(
            "[Accessor] public partial ValueTask<int> AAsync([VersionKey] Name key); private int ReadA(Name key) "
            + "=> 0;"));
        Assert.Equal(["TANGO013"], found.Select(d => d.Id));
    }

    private static string Source(string[] keys) =>
        Types + Sources.Object(string.Concat(keys.Select((key, i) =>
            $"[Accessor] public partial ValueTask<int> K{i}Async([VersionKey] {key} key); "
            + $"private int ReadK{i}({key} key) => 0;\n")));
}
