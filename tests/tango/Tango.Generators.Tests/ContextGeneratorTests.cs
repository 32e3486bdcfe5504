using Microsoft.CodeAnalysis;

namespace Tango.Generators.Tests;

public sealed class ContextGeneratorTests
{
    private const string Pool =
        "[TangoObject(\"pool\")] public sealed partial class Pool : TangoObject { private int _x; }";

    [Fact]
    public void Generated_half_opens_the_objects_in_order_of_property_names()
    {
        string source =
            """
            namespace A;

            public static partial class Outer
            {
                [TangoContext("shop")]
                internal sealed partial class Shop : TangoContext
                {
                    public partial Pool Spare { get; }

                    [ObjectName("a \"pool\"")]
                    internal partial Pool @event { get; }

                    private Task<int> CountAsync() => Task.FromResult(Name.Length);
                }
            }

            """ + Pool;
        Assert.Empty(Compiler.Errors(Compiler.Generate(source)));
        string generated = Compiler.Generated(source);
        int first = generated.IndexOf("Add<global::A.Pool>(\"Spare\")", StringComparison.Ordinal);
        int second = generated.IndexOf("Add<global::A.Pool>(\"a \\\"pool\\\"\")", StringComparison.Ordinal);
        Assert.True(first > 0 && second > first, generated);
    }

    [Theory]
    [InlineData("TANGO030", "public partial class C { public partial Pool P { get; } }")]
    [InlineData("TANGO030", "public abstract partial class C : TangoContext { public partial Pool P { get; } }")]
    [InlineData("TANGO030", "public partial class C<T> : TangoContext { public partial Pool P { get; } }")]
    [InlineData("TANGO030", "public partial class C : TangoContext { public Pool P => null!; }")]
    [InlineData("TANGO031", "public partial class C : TangoContext { public partial Pool P { get; set; } }")]
    [InlineData("TANGO031", "public partial class C : TangoContext { public static partial Pool P { get; } }")]
    [InlineData("TANGO031", "public partial class C : TangoContext { public partial int P { get; } }")]
    [InlineData("TANGO031", "public partial class C : TangoContext { public partial Pool this[int i] { get; } }")]
    [InlineData("TANGO031", "public partial class C : TangoContext { public partial Pool P { get; } "
        + "[ObjectName(\"P\")] public partial Pool Q { get; } }")]
    public void Wrong_shapes(string id, string context)
    {
        Compiler.Driver().RunGeneratorsAndUpdateCompilation(
            Compiler.Compile($"[TangoContext(\"c\")] {context} {Pool}"), out Compilation updated, out var reported);
        Assert.Equal(id, Assert.Single(reported).Id);
        // A context that does not derive from TangoContext, or whose constructor is not written, has no more to say.
        Assert.DoesNotContain(updated.GetDiagnostics(), found => found.Id is "CS9248" or "CS8795");
    }

    [Fact]
    public void A_context_that_is_not_partial_or_constructs_itself_is_refused()
    {
        string[] contexts =
        [
            "public class C : TangoContext { }",
            "public partial class C : TangoContext { public C() : base(null!) { } public partial Pool P { get; } }",
        ];
        foreach (string context in contexts)
        {
            GeneratorDriver driver = Compiler.Driver().RunGenerators(
                Compiler.Compile($"[TangoContext(\"c\")] {context} {Pool}"));
            Assert.Equal("TANGO030", Assert.Single(driver.GetRunResult().Diagnostics).Id);
        }
    }
}
