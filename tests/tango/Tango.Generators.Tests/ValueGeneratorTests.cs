using System.Reflection;
using MessagePack;
using Tango.Formatting;

namespace Tango.Generators.Tests;

public sealed class ValueGeneratorTests
{
    [Fact]
    public void Shapes_of_values_compile_and_come_back()
    {
        Assembly assembly = Compiler.Load(
            """
            namespace V;

            [MessagePackObject]
            public sealed record Job(
                [property: Key(0)] long Id, [property: Key(1)] string? User, [property: Key(2)] int Nodes = 3);

            [MessagePackObject]
            public readonly record struct Point([property: Key(1)] int X, [property: Key(0)] int Y);

            [MessagePackObject]
            public sealed class Mixed
            {
                public Mixed(int first) => First =
                    first > 9 ? throw new ArgumentOutOfRangeException(nameof(first)) : first;

                [Key(0)] public int First { get; }

                [Key(2)] public required string Second { get; init; }

                [Key(1)] internal Job? Third;

                public int Computed => First + 1;
            }

            [MessagePackObject]
            public sealed record Shrunk([property: Key(0)] int A, [property: Key(2)] int B);

            public static partial class Nest<T>
                where T : struct
            {
                [MessagePackObject]
                public sealed record Pair<TOther>([property: Key(0)] T Left, [property: Key(1)] TOther Right)
                    where TOther : class, IComparable<TOther>;
            }

            [MessagePackObject]
            public sealed record Tree([property: Key(0)] int Value, [property: Key(1)] ImmutableArray<Tree> Children);

            [MessagePackObject]
            public sealed record Empty;

            public static class Samples
            {
                public static void Store() => TangoFormatters.Verify<Nest<int>.Pair<string>>();

                public static Job Job => new(7, null);
                public static Point Point => new(1, 2);
                public static Mixed Mixed => new(1) { Second = "s", Third = new Job(1, "u", 2) };
                public static Shrunk Shrunk => new(1, 2);
                public static Nest<int>.Pair<string> Pair => new(1, "r");
                public static Tree Tree => new(1, [new(2, [])]);
                public static Empty Empty => new();
            }
            """);
        Check(assembly, "Job", "9307c003");
        Check(assembly, "Point", "920201");
        Check(assembly, "Mixed", "93019301a17502a173");
        Check(assembly, "Shrunk", "9301c002");
        Check(assembly, "Pair", "9201a172");
        Check(assembly, "Tree", "920191920290");
        Check(assembly, "Empty", "90");

        Type job = assembly.GetType("V.Job", throwOnError: true)!;
        // R18: a record of keys may be a key; and a record written before a member existed, or by a newer type, is
        // read.
        Assert.True(IsKey(job));
        Assert.False(IsKey(assembly.GetType("V.Tree", throwOnError: true)!));
        Assert.False(IsKey(assembly.GetType("V.Mixed", throwOnError: true)!));
        Assert.Equal("Job { Id = 7, User = u, Nodes = 3 }", Read(job, "9207a175").ToString());
        Assert.Equal("Job { Id = 7, User = u, Nodes = 4 }", Read(job, "9507a1750492c3c4010281a16105").ToString());
        Assert.Null(Read(job, "c0"));
        Assert.Throws<TangoFormatException>(() => Read(job, "9207a1"));
        Assert.Throws<TangoFormatException>(() => Read(assembly.GetType("V.Mixed", throwOnError: true)!, "930ac0a173"));
    }

    [Fact]
    public void A_cyclic_type_without_end_is_refused_when_read()
    {
        Assembly assembly = Compiler.Load(
            "[MessagePackObject] "
            + "public sealed record Loop([property: Key(0)] int Value, [property: Key(1)] Loop? Next);");
        Assert.Throws<TangoFormatException>(
            () => Read(assembly.GetType("Loop")!, string.Concat(Enumerable.Repeat("9201", 100_000)) + "c0"));
    }

    [Fact]
    public void A_value_that_contains_itself_is_refused_when_written()
    {
        Assembly assembly = Compiler.Load(
            "[MessagePackObject] public sealed class Ring { [Key(0)] public List<Ring> Next { get; set; } = []; "
            + "public static Ring Closed { get { var ring = new Ring(); ring.Next.Add(ring); return ring; } } }");
        Type ring = assembly.GetType("Ring")!;
        object closed = ring.GetProperty("Closed")!.GetValue(null)!;
        Assert.Equal(FormatError.TooDeep, Assert.Throws<TangoFormatException>(() => Write(ring, closed)).Error);
    }

    [Fact]
    public void Members_may_be_left_out_by_IgnoreMember()
    {
        Assembly assembly = Compiler.Load(
            "[MessagePackObject] public sealed record Part([property: Key(0)] int A) "
            + "{ [IgnoreMember] public int Note { get; init; } = 5; }");
        Type part = assembly.GetType("Part")!;
        Assert.Equal("9107", Write(part, Activator.CreateInstance(part, 7)!));
        Assert.Equal("Part { A = 7, Note = 5 }", Read(part, "9107").ToString());
    }

    [Fact]
    public void An_instance_of_a_derived_class_is_refused_instead_of_cut()
    {
        Assembly assembly = Compiler.Load(
            """
            [MessagePackObject] public record Animal([property: Key(0)] string Name);
            public sealed record Dog(string Name, int Bones) : Animal(Name);
            """);
        Type animal = assembly.GetType("Animal")!;
        Assert.Equal("91a161", Write(animal, Activator.CreateInstance(animal, "a")!));
        object dog = Activator.CreateInstance(assembly.GetType("Dog")!, "a", 1)!;
        Assert.Throws<TangoFormatException>(() => Write(animal, dog));
    }

    private static void Check(Assembly assembly, string name, string hex)
    {
        PropertyInfo sample = assembly.GetType("V.Samples")!.GetProperty(name)!;
        object value = sample.GetValue(null)!;
        Assert.Equal(hex, Write(sample.PropertyType, value));
        object back = Read(sample.PropertyType, hex);
        Assert.Equal(hex, Write(sample.PropertyType, back));
    }

    private static string Write(Type type, object value) => (string)Call(nameof(WriteOf), type, value)!;

    private static object Read(Type type, string hex) => Call(nameof(ReadOf), type, hex)!;

    private static bool IsKey(Type type) => (bool)Call(nameof(IsKeyOf), type)!;

    private static object? Call(string method, Type type, params object?[] arguments)
    {
        const BindingFlags flags = BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.DoNotWrapExceptions;
        return typeof(ValueGeneratorTests).GetMethod(method, flags)!.MakeGenericMethod(type)
            .Invoke(null, flags, null, arguments, null);
    }

    private static string WriteOf<T>(T value) => Convert.ToHexStringLower(TangoFormatters.ToBytes(value).Span);

    private static object? ReadOf<T>(string hex)
    {
        var reader = new MessagePackReader(Convert.FromHexString(hex));
        T value = TangoFormatters.Read<T>(ref reader);
        Assert.True(reader.End);
        return value;
    }

    private static bool IsKeyOf<T>()
    {
        TangoFormatters.Verify<T>();
        try
        {
            TangoFormatters.VerifyKey<T>();
            return true;
        }
        catch (TangoFormatException e) when (e.Error == FormatError.NotAKey)
        {
            return false;
        }
    }

    [Fact]
    public void Types_whose_names_differ_in_dots_and_underscores_only_have_a_formatter_each() =>
        Assert.Empty(Compiler.Errors(Compiler.Generate(
            """
            namespace A.B_C { [MessagePackObject] public sealed record Point([property: Key(0)] int X); }
            namespace A_B.C { [MessagePackObject] public sealed record Point([property: Key(0)] int X); }
            """)));
}
