using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tango.Generators;

/// <summary>Writes the formatters of referenced assemblies' [MessagePackObject] types that this project
/// stores.</summary>
[Generator(LanguageNames.CSharp)]
public sealed class TangoForeignValueGenerator : IIncrementalGenerator
{
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<EquatableArray<ValueModel>> ofObjects = context.SyntaxProvider
            .ForAttributeWithMetadataName(
                Names.ObjectAttribute,
                static (node, _) => node is ClassDeclarationSyntax,
                static (found, _) =>
                    ForeignValues.ReachedFrom(ForeignValues.StoredBy((INamedTypeSymbol)found.TargetSymbol)));
        IncrementalValuesProvider<EquatableArray<ValueModel>> ofValues = context.SyntaxProvider
            .ForAttributeWithMetadataName(
                Names.ValueAttribute,
                static (node, _) => node is TypeDeclarationSyntax,
                static (found, _) => ForeignValues.ReachedFrom([(INamedTypeSymbol)found.TargetSymbol]));
        IncrementalValuesProvider<EquatableArray<ValueModel>> ofUses = context.SyntaxProvider.CreateSyntaxProvider(
            static (node, _) => node is GenericNameSyntax,
            static (found, cancellation) => ForeignValues.ReachedFrom(StoredUses.At(found, cancellation)));
        IncrementalValuesProvider<ValueModel> distinct = ofObjects.Collect()
            .Combine(ofValues.Collect()).Combine(ofUses.Collect())
            .SelectMany(static (all, _) => Distinct(all.Left.Left, all.Left.Right, all.Right));
        context.RegisterSourceOutput(distinct, static (output, model) =>
            output.AddSource(model.HintName + ".TangoForeignValue.g.cs", ValueEmitter.Emit(model)));
    }

    private static IEnumerable<ValueModel> Distinct(params ImmutableArray<EquatableArray<ValueModel>>[] found) =>
        found.SelectMany(models => models.SelectMany(model => model))
            .GroupBy(model => model.HintName).Select(group => group.First());
}
