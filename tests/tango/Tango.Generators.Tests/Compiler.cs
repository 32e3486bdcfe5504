using System.Collections.Immutable;
using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Tango.Generators.Tests;

/// <summary>Runs the generators and analyzers over a source text, as the compiler would.</summary>
internal static class Compiler
{
    private const string Usings =
        "using System; using System.Collections.Generic; using System.Collections.Immutable; using System.Linq; "
        + "using System.Threading; "
        + "using System.Threading.Tasks; using MessagePack; using Tango; using Tango.Formatting;\n";

    private static readonly ImmutableArray<MetadataReference> References =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(
                p =>
                    Path.GetFileName(p) is var n
                    && (n.StartsWith("System.", StringComparison.Ordinal) || n is "netstandard.dll" or "mscorlib.dll"))
            .Append(typeof(TangoObject).Assembly.Location)
            .Append(typeof(MessagePack.MessagePackReader).Assembly.Location)
            .Append(typeof(MessagePack.KeyAttribute).Assembly.Location)
            .Select(p => MetadataReference.CreateFromFile(p)),
    ];

    public static CSharpParseOptions ParseOptions { get; } = new(LanguageVersion.Preview);

    /// <param name="withTango">False: an assembly named Contracts that does not refer to Tango.</param>
    public static CSharpCompilation Compile(string source, bool withTango = true, string? name = null) =>
        CSharpCompilation.Create(
        name ?? (withTango ? "Snippet" : "Contracts"),
        [
            CSharpSyntaxTree.ParseText(
                (withTango ? Usings : Usings.Replace("using Tango; using Tango.Formatting;", "")) + source,
                ParseOptions, path: "Snippet.cs"),
        ],
        withTango
            ? References
            : References.Where(r => r.Display != typeof(TangoObject).Assembly.Location),
        new CSharpCompilationOptions(
            OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable,
            warningLevel: 9999,
            // As the SDK does: a package may have been built against an older framework.
            specificDiagnosticOptions:
            [
                new("CS1701", ReportDiagnostic.Suppress), new("CS1702", ReportDiagnostic.Suppress),
            ]));

    public static GeneratorDriver Driver() => CSharpGeneratorDriver.Create(
        [
            new TangoObjectGenerator().AsSourceGenerator(), new TangoValueGenerator().AsSourceGenerator(),
            new TangoForeignValueGenerator().AsSourceGenerator(),
            new TangoClosedFormatterGenerator().AsSourceGenerator(), new TangoContextGenerator().AsSourceGenerator(),
        ],
        parseOptions: ParseOptions,
        driverOptions: new GeneratorDriverOptions(IncrementalGeneratorOutputKind.None,
            trackIncrementalGeneratorSteps: true));

    public static Compilation Generate(string source, params MetadataReference[] more)
    {
        Driver().RunGeneratorsAndUpdateCompilation(Compile(source).AddReferences(more), out Compilation updated,
            out ImmutableArray<Diagnostic> diagnostics);
        Assert.Empty(diagnostics);
        return updated;
    }

    /// <summary>The text generated from a source, all files one after the other.</summary>
    public static string Generated(string source) =>
        string.Join("\n", Driver().RunGenerators(Compile(source)).GetRunResult().GeneratedTrees
            .Select(t => t.ToString())).Replace("\r\n", "\n");

    /// <summary>The ids reported by the generators and the analyzers, in order of place, as "TANGO004 line".</summary>
    public static async Task<string[]> Diagnose(string source)
    {
        ImmutableArray<Diagnostic> found = await Analyze(source);
        return [.. found.OrderBy(d => d.Location.SourceSpan.Start).Select(d => d.Id)];
    }

    /// <param name="files">Additional files of the project.</param>
    public static async Task<ImmutableArray<Diagnostic>> Analyze(string source, params AdditionalText[] files)
    {
        Driver().RunGeneratorsAndUpdateCompilation(Compile(source), out Compilation updated,
            out ImmutableArray<Diagnostic> generated);
        return [.. generated, .. await Analyze(updated, files)];
    }

    /// <summary>Diagnostics of the analyzers for a compilation with the generated code.</summary>
    public static async Task<ImmutableArray<Diagnostic>> Analyze(Compilation generated, params AdditionalText[] files)
    {
        ImmutableArray<DiagnosticAnalyzer> analyzers = [new TangoObjectAnalyzer(), new TangoValueAnalyzer(),
            new TangoApplyAnalyzer(), new DroppedOutcomeAnalyzer(), new ShippedAnalyzer()];
        ImmutableArray<Diagnostic> found = await generated
            .WithAnalyzers(analyzers, new AnalyzerOptions([.. files])).GetAnalyzerDiagnosticsAsync();
        Assert.DoesNotContain(found, d => d.Id == "AD0001");
        return found;
    }

    /// <summary>Errors and warnings of the compiler itself, generated code included.</summary>
    public static string[] Errors(Compilation compilation) =>
        [.. compilation.GetDiagnostics().Where(d => d.Severity >= DiagnosticSeverity.Warning)
            .Select(d => d.ToString())];

    public static Assembly Load(string source)
    {
        Compilation compilation = Generate(source);
        Assert.Empty(Errors(compilation));
        return Assembly.Load(Emit(compilation));
    }

    public static byte[] Emit(Compilation compilation)
    {
        using var stream = new MemoryStream();
        Assert.True(compilation.Emit(stream).Success, string.Join("\n", Errors(compilation)));
        return stream.ToArray();
    }
}
