using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tango.Generators;

/// <summary>Writes update and query helpers, apply dispatch and checkpoint code of [TangoObject] classes (Tango
/// 3.1).</summary>
[Generator(LanguageNames.CSharp)]
public sealed class TangoObjectGenerator : IIncrementalGenerator
{
    /// <summary>Name of the step whose caching the tests watch.</summary>
    public const string ModelStep = "TangoObjectModel";

    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<Reading> read = context.SyntaxProvider.ForAttributeWithMetadataName(
            Names.ObjectAttribute, static (node, _) => node is ClassDeclarationSyntax,
            static (found, token) => Read((INamedTypeSymbol)found.TargetSymbol, token));
        context.RegisterSourceOutput(
            Present(read.Select(static (found, _) => found.Model)).WithTrackingName(ModelStep),
            static (output, model) =>
                output.AddSource(model.Shell.HintName + ".TangoObject.g.cs", ObjectEmitter.Emit(model)));
        context.RegisterSourceOutput(
            Present(read.Select(static (found, _) => found.Broken)),
            static (output, broken) =>
                output.AddSource(broken.Shell.HintName + ".BrokenObject.g.cs", broken.Emit()));
        context.RegisterSourceOutput(read.Select(static (found, _) => found.Problems), static (output, problems) =>
        {
            foreach (Problem problem in problems) output.ReportDiagnostic(problem.ToDiagnostic());
        });
    }

    private static Reading Read(INamedTypeSymbol type, CancellationToken cancellation) => new(
        ObjectShape.Model(type, cancellation), BrokenObject.Of(type, cancellation),
        ObjectProblems.Of(type, cancellation));

    private static IncrementalValuesProvider<T> Present<T>(IncrementalValuesProvider<T?> found)
        where T : class =>
        found.Where(static model => model is not null).Select(static (model, _) => model!);

    /// <summary>All that is read off one class.</summary>
    private sealed record Reading(ObjectModel? Model, BrokenObject? Broken, EquatableArray<Problem> Problems);
}
