using System.Reflection;
using System.Runtime.CompilerServices;
using Microsoft.CodeAnalysis;
using Tango.Formatting;

namespace Tango.Generators.Tests;

/// <summary>Formatters of types that are made of others are constructed by generated code.</summary>
public sealed class ClosedFormatterTests
{
    private const string Library =
        """
        namespace Lib;

        [MessagePackObject]
        public sealed record Pair<TLeft, TRight>(
            [property: Key(0)] TLeft Left, [property: Key(1)] ImmutableArray<TRight?> Right);

        [MessagePackObject]
        public readonly record struct Chain<T>(
            [property: Key(0)] T Value, [property: Key(1)] ImmutableList<Chain<T>>? Next);
        """;

    [Fact]
    public void Formatters_are_closed_for_every_type_that_an_object_stores()
    {
        Assembly assembly = Compiler.Load(
            Library
            + """

            public enum Mode : byte { Off, On }

            [TangoObject("machine")]
            public sealed partial class Machine<TTag> : TangoObject
                where TTag : notnull
            {
                private enum Phase { First, Second }

                private ImmutableSortedDictionary<TTag, Pair<Mode?, (Phase, TTag)>> _pairs =
                    ImmutableSortedDictionary<TTag, Pair<Mode?, (Phase, TTag)>>.Empty
                        .WithComparers(TangoOrder<TTag>.Comparer);
                private Chain<ImmutableHashSet<char>> _chain;
                private (int, int, int, int, int, int, int, DayOfWeek, Guid?) _long;

                [Mutator(1)]
                public partial ValueTask PutAsync(KeyValuePair<TTag, float[]> items);

                private void ApplyPut(KeyValuePair<TTag, float[]> items) { }
            }

            public static class Program
            {
                public static void Open() => _ = nameof(Machine<string>);
            }
            """);
        VerifyObject(assembly.GetType("Lib.Machine`1", throwOnError: true)!.MakeGenericType(typeof(string)));
    }

    [Fact]
    public void Formatters_are_closed_for_the_type_argument_of_an_opened_object()
    {
        Assembly assembly = Compiler.Load(
            """
            public enum Level { Low, High }

            [TangoObject("cell")]
            public sealed partial class Cell<T> : TangoObject
            {
                private T? _value;
            }

            public static class Program
            {
                private enum Hidden { A }

                public static Cell<ImmutableList<(Level, ulong?)>>? Opened => null;

                // Generated code cannot name it: opening fails and says so.
                private static Cell<Hidden>? Closed => null;
            }
            """);
        RuntimeHelpers.RunModuleConstructor(assembly.ManifestModule.ModuleHandle);
        Type cell = assembly.GetType("Cell`1")!;
        VerifyObject(assembly.GetType("Program")!.GetProperty("Opened")!.PropertyType);
        Type hidden = assembly.GetType("Program")!.GetNestedType("Hidden", BindingFlags.NonPublic)!;
        var error = Assert.Throws<TangoFormatException>(() => VerifyObject(cell.MakeGenericType(hidden)));
        Assert.Equal(FormatError.NoFormatter, error.Error);
    }

    [Fact]
    public void Generic_values_of_another_project()
    {
        Compilation library = GenerateAs("Lib", Library);
        Assert.Empty(Compiler.Errors(library));
        byte[] image = Compiler.Emit(library);
        Compilation user = Compiler.Generate(
            Sources.Object("private ImmutableArray<Lib.Pair<string, Lib.Chain<DayOfWeek>>> _all = [];"),
            MetadataReference.CreateFromImage(image));
        Assert.Empty(Compiler.Errors(user));
        var loaded = Assembly.Load(image);
        AppDomain.CurrentDomain.AssemblyResolve += (_, name) =>
            name.Name.StartsWith("Lib,", StringComparison.Ordinal) ? loaded : null;
        VerifyObject(Assembly.Load(Compiler.Emit(user)).GetType("Subject")!);
    }

    [Fact]
    public void Formatters_are_closed_for_the_argument_of_a_stored_type_parameter()
    {
        string generated = Compiler.Generated(
            """
            public sealed class Repository<TNot, [TangoStored] T>
            {
                public static void Open<[TangoStored] TOther>() { }
            }

            public static class Program
            {
                public static void Main() => Repository<List<byte>, List<int>>.Open<List<long>>();
            }
            """);
        Assert.Contains("ClosedFormatters.List<int>();", generated, StringComparison.Ordinal);
        Assert.Contains("ClosedFormatters.List<long>();", generated, StringComparison.Ordinal);
        Assert.DoesNotContain("ClosedFormatters.List<byte>", generated, StringComparison.Ordinal);
    }

    [Fact]
    public void Formatters_are_closed_for_types_that_users_formatters_read()
    {
        string generated = Compiler.Generated(
            """
            public static class Own
            {
                public static Stack<short>? Read(ref MessagePackReader reader) =>
                    TangoFormatters.Read<Stack<short>?>(ref reader);

                // What T is, is not known here.
                public static List<T>? Read<T>(ref MessagePackReader reader) =>
                    TangoFormatters.Read<List<T>?>(ref reader);
            }
            """);
        Assert.Contains("ClosedFormatters.Stack<short>();", generated, StringComparison.Ordinal);
        Assert.DoesNotContain("ClosedFormatters.List", generated, StringComparison.Ordinal);
    }

    private static Compilation GenerateAs(string name, string source)
    {
        Compiler.Driver().RunGeneratorsAndUpdateCompilation(
            Compiler.Compile(source, name: name), out Compilation updated, out _);
        return updated;
    }

    /// <summary>As when it is opened: every stored type has a formatter, and the initial state comes back.</summary>
    private static void VerifyObject(Type type)
    {
        const BindingFlags flags =
            BindingFlags.Static | BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.DoNotWrapExceptions;
        PropertyInfo facts = type.GetProperties(flags).Single(p => p.PropertyType == typeof(TangoObjectType));
        typeof(TangoObjectType).GetMethod("VerifyFormatters", flags)!
            .Invoke(facts.GetValue(null), flags, null, null, null);
    }
}
