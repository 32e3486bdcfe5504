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
        IncrementalValuesProvider<ObjectModel> models = context.SyntaxProvider
            .ForAttributeWithMetadataName(
                Names.ObjectAttribute,
                static (node, _) => node is ClassDeclarationSyntax,
                static (found, cancellation) => ObjectShape.Model((INamedTypeSymbol)found.TargetSymbol, cancellation))
            .Where(static model => model is not null)
            .Select(static (model, _) => model!)
            .WithTrackingName(ModelStep);
        context.RegisterSourceOutput(models, static (output, model) =>
            output.AddSource(model.Shell.HintName + ".TangoObject.g.cs", ObjectEmitter.Emit(model)));
    }
}
