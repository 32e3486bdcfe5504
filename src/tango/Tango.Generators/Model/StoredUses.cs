using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>Types that a project stores by naming them, not by declaring an object or a value.</summary>
internal static class StoredUses
{
    /// <summary>Types that an object of a generic type, such as a dictionary, is opened for; arguments for a type
    /// parameter marked as stored; and types that the user's own formatters ask TangoFormatters for.</summary>
    public static IEnumerable<ITypeSymbol> At(GeneratorSyntaxContext found, CancellationToken cancellation) =>
        found.SemanticModel.GetSymbolInfo(found.Node, cancellation).Symbol switch
        {
            INamedTypeSymbol type when type.OriginalDefinition.Attribute(Names.ObjectAttribute) is not null =>
                type.TypeArguments,
            IMethodSymbol method when method.ContainingType.Is(Names.Formatters) => method.TypeArguments,
            INamedTypeSymbol type => Marked(type.TypeParameters, type.TypeArguments),
            IMethodSymbol method => Marked(method.TypeParameters, method.TypeArguments),
            _ => [],
        };

    private static IEnumerable<ITypeSymbol> Marked(
        IEnumerable<ITypeParameterSymbol> parameters, IEnumerable<ITypeSymbol> arguments) =>
        parameters.Zip(arguments, (parameter, argument) => (parameter, argument))
            .Where(pair => pair.parameter.Attribute(Names.StoredAttribute) is not null)
            .Select(pair => pair.argument);
}
