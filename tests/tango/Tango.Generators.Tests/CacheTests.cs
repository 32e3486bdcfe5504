using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Tango.Generators.Tests;

public sealed class CacheTests
{
    private const string Value =
        "[MessagePackObject] public sealed record Job([property: Key(0)] long Id, [property: Key(1)] string User);\n";

    [Fact]
    public void Unrelated_edit_reuses_every_generated_output()
    {
        CSharpCompilation compilation =
            Compiler.Compile(Value + Sources.NodePool.Replace("namespace Cluster;", "", StringComparison.Ordinal));
        GeneratorDriver driver = Compiler.Driver().RunGenerators(compilation);
        compilation =
            compilation.AddSyntaxTrees(CSharpSyntaxTree.ParseText("class Unrelated { int X; }", Compiler.ParseOptions));
        AssertReasons(driver.RunGenerators(compilation), IncrementalStepRunReason.Cached,
            IncrementalStepRunReason.Unchanged);
    }

    [Fact]
    public void An_edit_inside_a_body_changes_no_model()
    {
        string source = Value + Sources.NodePool.Replace("namespace Cluster;", "", StringComparison.Ordinal);
        GeneratorDriver driver = Compiler.Driver().RunGenerators(Compiler.Compile(source));
        string edited = source.Replace("not enough nodes", "too few nodes", StringComparison.Ordinal);
        Assert.NotEqual(source, edited);
        AssertReasons(driver.RunGenerators(Compiler.Compile(edited)), IncrementalStepRunReason.Unchanged,
            IncrementalStepRunReason.Cached);
    }

    [Fact]
    public void A_new_member_does()
    {
        GeneratorDriver driver = Compiler.Driver().RunGenerators(Compiler.Compile(Value));
        driver =
            driver.RunGenerators(
                Compiler.Compile(Value.Replace("string User", "string User, [property: Key(2)] int Nodes",
                    StringComparison.Ordinal)));
        AssertReasons(driver, IncrementalStepRunReason.Modified);
    }

    private static void AssertReasons(GeneratorDriver driver, params IncrementalStepRunReason[] allowed)
    {
        var reasons = driver.GetRunResult().Results
            .SelectMany(r => r.TrackedSteps)
            .Where(s => s.Key is TangoObjectGenerator.ModelStep or TangoValueGenerator.ModelStep)
            .SelectMany(s => s.Value).SelectMany(s => s.Outputs).Select(o => o.Reason).ToList();
        Assert.NotEmpty(reasons);
        Assert.All(reasons, r => Assert.Contains(r, allowed));
    }
}
