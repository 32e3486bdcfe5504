using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>Public [MessagePackObject] types of assemblies that do not know Tango: a project that stores them needs
/// their formatters.</summary>
internal static class ForeignValues
{
    private const string Contract = "Tango";

    /// <summary>Foreign values that values of the types are made of.</summary>
    public static EquatableArray<ValueModel> ReachedFrom(IEnumerable<ITypeSymbol> types)
    {
        var found = new List<ValueModel>();
        var seen = new HashSet<ISymbol>(SymbolEqualityComparer.Default);
        foreach (ITypeSymbol type in types) Visit(type, seen, found);
        return found.ToEquatable();
    }

    public static IEnumerable<ITypeSymbol> StoredBy(INamedTypeSymbol objectType)
    {
        foreach ((IMethodSymbol method, _, _) in ObjectShape.Operations(objectType))
        {
            foreach (IParameterSymbol parameter in OperationShape.Arguments(method)) yield return parameter.Type;
        }

        foreach ((_, ITypeSymbol type) in ObjectShape.State(objectType)) yield return type;
    }

    private static void Visit(ITypeSymbol type, HashSet<ISymbol> seen, List<ValueModel> found)
    {
        if (!seen.Add(type)) return;
        if (type is IArrayTypeSymbol array) Visit(array.ElementType, seen, found);
        if (type is not INamedTypeSymbol named) return;
        foreach (ITypeSymbol argument in named.TypeArguments) Visit(argument, seen, found);
        INamedTypeSymbol definition = named.OriginalDefinition;
        if (definition.Attribute(Names.ValueAttribute) is null) return;
        foreach (ValueShape.Member member in ValueShape.Members(named)) Visit(member.Type, seen, found);
        if (!ValueShape.IsInSource(definition) && !KnowsTango(definition)
            && ValueShape.Model(definition) is { } model
            && !found.Any(known => known.HintName == model.HintName)) found.Add(model);
    }

    /// <summary>Then its own build has generated them.</summary>
    public static bool KnowsTango(INamedTypeSymbol type) =>
        type.ContainingModule.ReferencedAssemblies.Any(assembly => assembly.Name == Contract);
}
