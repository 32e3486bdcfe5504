using System.Collections.Immutable;
using System.Globalization;
using System.Reflection;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Tango.Collections;
using Tango.Testing;

namespace Tango.Generators.Tests;

/// <summary>"What you will meet first" in docs/analyzers.md: what the build or the exception says of each mistake, to
/// the letter, and that what is meant works.</summary>
public sealed partial class FirstMistakesTests
{
    private static readonly MetadataReference s_collections =
        MetadataReference.CreateFromFile(typeof(TangoDictionary<,>).Assembly.Location);

    // Mistakes of the page by title: what is written, what is said and what is meant.
    private static readonly Dictionary<string, (string Written, string Said, string Meant)> s_mistakes =
        Section().Matches(Checkout.Read("docs/analyzers.md")).ToDictionary(
            match => match.Groups["title"].Value,
            match => (match.Groups["written"].Value, match.Groups["said"].Value, match.Groups["meant"].Value));

    public static TheoryData<string> Titles => [.. s_mistakes.Keys];

    [Fact]
    public void First_mistakes_are_ten() => Assert.Equal(10, s_mistakes.Count);

    [Theory]
    [MemberData(nameof(Titles))]
    public async Task Page_has_the_diagnostics_that_the_compiler_reports(string title)
    {
        var (written, said, meant) = s_mistakes[title];
        Assert.Equal(said, await Say(written));
        Assert.Equal("", await Say(meant));
    }

    private static async Task<string> Say(string source)
    {
        source = "using Tango.Collections;\n" + source;
        Compiler.Driver().RunGeneratorsAndUpdateCompilation(
            Compiler.Compile(source).AddReferences(s_collections), out Compilation built,
            out ImmutableArray<Diagnostic> generated);
        Diagnostic[] found = [.. generated, .. built.GetDiagnostics().Where(IsSeen)];
        // As a build does: errors of the compiler keep the analyzers from running.
        if (found.Length == 0) found = [.. await Compiler.Analyze(built)];
        if (found.Any(IsSeen)) return string.Join("\n", found.Where(IsSeen).Select(Line).Order(StringComparer.Ordinal));
        return await RunAsync(Compiler.Emit(built));
    }

    private static bool IsSeen(Diagnostic diagnostic) => diagnostic.Severity >= DiagnosticSeverity.Warning;

    private static string Line(Diagnostic diagnostic) =>
        $"{diagnostic.Severity.ToString().ToLowerInvariant()} {diagnostic.Id}: "
        + diagnostic.GetMessage(CultureInfo.InvariantCulture);

    private static async Task<string> RunAsync(byte[] assembly)
    {
        MethodInfo? run = Assembly.Load(assembly).GetType("Program")?.GetMethod("RunAsync");
        if (run is null) return "";
        await using var tango = new TangoRuntime(new InMemoryCorfuLog());
        try
        {
            await (Task)run.Invoke(null, [tango])!;
            return "";
        }
        catch (TangoException exception)
        {
            return $"{exception.GetType()}: {exception.Message}";
        }
    }

    [GeneratedRegex("""
        ^### (?<title>.+)

        ```csharp
        (?<written>(?s:.+?))
        ```

        ```text
        (?<said>(?s:.+?))
        ```

        ```csharp
        (?<meant>(?s:.+?))
        ```$
        """, RegexOptions.Multiline)]
    private static partial Regex Section();
}
