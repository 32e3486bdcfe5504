using System.Collections.Immutable;
using Microsoft.CodeAnalysis;

namespace Tango.Generators.Tests;

/// <summary>A project may use MessagePack-CSharp 3 although Tango is built with 2.5: what is generated compiles against
/// both. All other tests here compile against 2.5.</summary>
public sealed class LibraryVersionTests
{
    [Fact]
    public void Generated_code_compiles_against_version_3()
    {
        string library = Path.Combine(AppContext.BaseDirectory, "MessagePack3");
        MetadataReference[] newer =
        [
            .. Directory.GetFiles(library, "*.dll").Select(path => MetadataReference.CreateFromFile(path)),
        ];
        Assert.Equal(2, newer.Length);
        Compilation compilation = Compiler.Compile(
            Sources.NodePool
            + """

            [MessagePackObject]
            public sealed record Job(
                [property: Key(0)] long Id, [property: Key(1)] string? User, [property: Key(3)] int Nodes = 3);

            [MessagePackObject]
            public readonly record struct Pair<TLeft, TRight>(
                [property: Key(0)] TLeft Left, [property: Key(1)] ImmutableDictionary<string, TRight?>? Right);

            [TangoObject("store")]
            public sealed partial class Store<T> : TangoObject
                where T : notnull
            {
                private ImmutableList<Pair<Job?, (T, DayOfWeek?)>> _items =
                    ImmutableList<Pair<Job?, (T, DayOfWeek?)>>.Empty;

                [Mutator(1)]
                public partial ValueTask PutAsync([VersionKey] T key, KeyValuePair<int, float[]>[] values);

                private void ApplyPut(T key, KeyValuePair<int, float[]>[] values) { }

                public static Store<ImmutableSortedSet<TimeSpan>>? Opened => null;
            }
            """);
        Compilation against3 = compilation
            .RemoveReferences(compilation.References.Where(IsLibrary)).AddReferences(newer);
        Compiler.Driver().RunGeneratorsAndUpdateCompilation(against3, out Compilation updated,
            out ImmutableArray<Diagnostic> diagnostics);
        Assert.Empty(diagnostics);
        Assert.Empty(Compiler.Errors(updated));
        Assert.Contains(updated.ReferencedAssemblyNames, name => name.Name == "MessagePack" && name.Version.Major == 3);
        Assert.True(updated.SyntaxTrees.Count() >= 5);
    }

    private static bool IsLibrary(MetadataReference reference) =>
        Path.GetFileName(reference.Display)!.StartsWith("MessagePack", StringComparison.Ordinal);
}
