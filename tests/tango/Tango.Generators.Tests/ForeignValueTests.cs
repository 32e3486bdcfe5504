using System.Reflection;
using Microsoft.CodeAnalysis;
using Tango.Formatting;

namespace Tango.Generators.Tests;

/// <summary>Types of an assembly that knows MessagePack-CSharp and not Tango.</summary>
public sealed class ForeignValueTests
{
    private const string Contracts =
        """
        namespace Contracts;

        [MessagePackObject]
        public sealed record Order([property: Key(0)] long Id, [property: Key(1)] ImmutableArray<Line> Lines);

        [MessagePackObject]
        public readonly record struct Line([property: Key(2)] string Article, [property: Key(0)] int Count);

        [MessagePackObject]
        public class Custom
        {
            [Key(0)] public int A { get; set; }

            [IgnoreMember] public int B { get; set; }

            public override bool Equals(object? other) => other is Custom;

            public override int GetHashCode() => 0;
        }

        [MessagePackObject]
        public sealed record Boxed([property: Key(0)] int A);

        [MessagePackObject]
        public sealed record NotUsed([property: Key(0)] int A);
        """;

    [Fact]
    public void Formatters_are_generated_for_stored_types_of_a_foreign_assembly()
    {
        var contracts = Compiler.Emit(Compiler.Compile(Contracts, withTango: false));
        Compilation compilation = Compiler.Generate(
            """
            using Contracts;

            [TangoObject("box")]
            public sealed partial class Box<T> : TangoObject
            {
                private T? _value;
            }

            public static class Program
            {
                public static Box<Boxed>? Opened => null;
                public static Boxed Content => new(1);
                public static Custom Value => new() { A = 5 };
                public static Order Sample => new(7, [new Line("x", 2)]);
            }

            [MessagePackObject] public sealed record Wrapped([property: Key(0)] Custom Content);
            """
            + Sources.Object("private ImmutableList<Order>? _orders;"),
            MetadataReference.CreateFromImage(contracts));
        Assert.Empty(Compiler.Errors(compilation));
        Assert.DoesNotContain("NotUsed", string.Join(" ", compilation.SyntaxTrees.Select(tree => tree.FilePath)),
            StringComparison.Ordinal);

        var loaded = Assembly.Load(contracts);
        AppDomain.CurrentDomain.AssemblyResolve += (_, name) =>
            name.Name.StartsWith("Contracts,", StringComparison.Ordinal) ? loaded : null;
        var program = Assembly.Load(Compiler.Emit(compilation)).GetType("Program")!;
        Assert.Equal("92079193" + "02c0a178", Written(program.GetProperty("Sample")!));
        Assert.Equal("9105", Written(program.GetProperty("Value")!));
        Assert.Equal("9101", Written(program.GetProperty("Content")!));
    }

    private static string Written(PropertyInfo property)
    {
        System.Runtime.CompilerServices.RuntimeHelpers.RunModuleConstructor(property.Module.ModuleHandle);
        return (string)typeof(ForeignValueTests)
            .GetMethod(nameof(HexOf), BindingFlags.Static | BindingFlags.NonPublic)!
            .MakeGenericMethod(property.PropertyType).Invoke(null, [property.GetValue(null)])!;
    }

    private static string HexOf<T>(T value) => Convert.ToHexStringLower(TangoFormatters.ToBytes(value).Span);
}
