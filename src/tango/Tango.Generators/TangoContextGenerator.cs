using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tango.Generators;

/// <summary>Writes the constructor, the opening and the properties of [TangoContext] classes.</summary>
[Generator(LanguageNames.CSharp)]
public sealed class TangoContextGenerator : IIncrementalGenerator
{
    /// <summary>Name of the step whose caching the tests watch.</summary>
    public const string ModelStep = "TangoContextModel";

    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<ContextModel> models = context.SyntaxProvider
            .ForAttributeWithMetadataName(
                Names.ContextAttribute, static (node, _) => node is ClassDeclarationSyntax,
                static (found, token) => ContextShape.Model((INamedTypeSymbol)found.TargetSymbol, token))
            .Where(static model => model is not null)
            .Select(static (model, _) => model!)
            .WithTrackingName(ModelStep);
        context.RegisterSourceOutput(models, static (output, model) =>
            output.AddSource(model.Shell.HintName + ".TangoContext.g.cs", ContextEmitter.Emit(model)));
        context.RegisterSourceOutput(
            context.SyntaxProvider.ForAttributeWithMetadataName(
                Names.ContextAttribute, static (node, _) => node is ClassDeclarationSyntax,
                static (found, token) => ContextShape.Problems((INamedTypeSymbol)found.TargetSymbol, token)),
            static (output, problems) =>
            {
                foreach (Problem problem in problems) output.ReportDiagnostic(problem.ToDiagnostic());
            });
    }
}
