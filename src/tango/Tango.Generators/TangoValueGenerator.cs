using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tango.Generators;

/// <summary>Writes the formatters of [MessagePackObject] types: arrays indexed by the members' numbers.</summary>
[Generator(LanguageNames.CSharp)]
public sealed class TangoValueGenerator : IIncrementalGenerator
{
    /// <summary>Name of the step whose caching the tests watch.</summary>
    public const string ModelStep = "TangoValueModel";

    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<ValueModel> models = context.SyntaxProvider
            .ForAttributeWithMetadataName(
                Names.ValueAttribute,
                static (node, _) => node is TypeDeclarationSyntax,
                static (found, _) => ValueShape.Model((INamedTypeSymbol)found.TargetSymbol))
            .Where(static model => model is not null)
            .Select(static (model, _) => model!)
            .WithTrackingName(ModelStep);
        context.RegisterSourceOutput(models, static (output, model) =>
            output.AddSource(model.HintName + ".TangoValue.g.cs", ValueEmitter.Emit(model)));
    }
}
