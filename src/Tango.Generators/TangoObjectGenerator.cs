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
        IncrementalValuesProvider<ObjectModel> models = Read(context, ObjectShape.Model).WithTrackingName(ModelStep);
        context.RegisterSourceOutput(models, static (output, model) =>
            output.AddSource(model.Shell.HintName + ".TangoObject.g.cs", ObjectEmitter.Emit(model)));
        context.RegisterSourceOutput(Read(context, BrokenObject.Of), static (output, broken) =>
            output.AddSource(broken.Shell.HintName + ".BrokenObject.g.cs", broken.Emit()));
        context.RegisterSourceOutput(
            context.SyntaxProvider.ForAttributeWithMetadataName(
                Names.ObjectAttribute, static (node, _) => node is ClassDeclarationSyntax,
                static (found, token) => ObjectProblems.Of((INamedTypeSymbol)found.TargetSymbol, token)),
            static (output, problems) =>
            {
                foreach (Problem problem in problems) output.ReportDiagnostic(problem.ToDiagnostic());
            });
    }

    private static IncrementalValuesProvider<T> Read<T>(IncrementalGeneratorInitializationContext context,
        Func<INamedTypeSymbol, CancellationToken, T?> read)
        where T : class =>
        context.SyntaxProvider
            .ForAttributeWithMetadataName(
                Names.ObjectAttribute,
                static (node, _) => node is ClassDeclarationSyntax,
                (found, cancellation) => read((INamedTypeSymbol)found.TargetSymbol, cancellation))
            .Where(static model => model is not null)
            .Select(static (model, _) => model!);
}
