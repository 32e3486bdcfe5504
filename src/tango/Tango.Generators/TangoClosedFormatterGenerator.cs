using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tango.Generators;

/// <summary>Makes the formatters known of what generic objects are opened for in this project, for example of the
/// values of a dictionary.</summary>
[Generator(LanguageNames.CSharp)]
public sealed class TangoClosedFormatterGenerator : IIncrementalGenerator
{
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValueProvider<EquatableArray<string>> statements = context.SyntaxProvider
            .CreateSyntaxProvider(
                static (node, _) => node is GenericNameSyntax,
                static (found, cancellation) => ClosedTypes.OfNameable(StoredUses.At(found, cancellation)))
            .Where(static found => found.Count > 0)
            .Collect()
            .Select(static (all, _) => Distinct(all));
        context.RegisterSourceOutput(statements, static (output, found) =>
        {
            if (found.Count > 0) output.AddSource("TangoClosedFormatters.g.cs", Emit(found));
        });
    }

    private static EquatableArray<string> Distinct(ImmutableArray<EquatableArray<string>> all) =>
        all.SelectMany(found => found).Distinct().OrderBy(text => text, StringComparer.Ordinal).ToEquatable();

    private static string Emit(EquatableArray<string> statements)
    {
        var code = new CodeWriter();
        code.FileHeader();
        code.Open($"namespace {Names.Generated}");
        code.Open("file static class TangoClosedFormatters");
        code.Line("[global::System.Runtime.CompilerServices.ModuleInitializer]");
        code.Open("internal static void Register()");
        foreach (string statement in statements) code.Line(statement);
        code.CloseAll();
        return code.ToString();
    }
}
