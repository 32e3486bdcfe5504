using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>
/// The statements that make the formatters of types known that are made of others, so that none is looked for by
/// reflection. Type parameters may stand in them: then they run where the parameters are known.
/// </summary>
internal static class ClosedTypes
{
    private const string Formatters = "global::Tango.Formatting.ClosedFormatters";
    private const string Register = "global::Tango.Formatting.TangoFormatters.RegisterGenerated";

    // By the name of the method in ClosedFormatters, which is the type's.
    private static readonly HashSet<string> s_known =
    [
        "System.Nullable", "System.Collections.Generic.List", "System.Collections.Generic.IReadOnlyList",
        "System.Collections.Generic.Queue", "System.Collections.Generic.Stack", "System.Collections.Generic.HashSet",
        "System.Collections.Generic.SortedSet", "System.Collections.Generic.Dictionary",
        "System.Collections.Generic.SortedDictionary", "System.Collections.Generic.KeyValuePair",
        "System.Collections.Immutable.ImmutableArray", "System.Collections.Immutable.ImmutableList",
        "System.Collections.Immutable.ImmutableQueue", "System.Collections.Immutable.ImmutableStack",
        "System.Collections.Immutable.ImmutableHashSet", "System.Collections.Immutable.ImmutableSortedSet",
        "System.Collections.Immutable.ImmutableDictionary", "System.Collections.Immutable.ImmutableSortedDictionary",
        "System.ValueTuple", "System.Tuple",
    ];

    public static EquatableArray<string> Of(IEnumerable<ITypeSymbol> stored)
    {
        var statements = new List<string>();
        var seen = new HashSet<ISymbol>(SymbolEqualityComparer.Default);
        foreach (ITypeSymbol type in stored) Visit(type, seen, statements);
        return statements.Distinct().ToEquatable();
    }

    /// <summary>Without types that generated code outside the user's classes cannot name.</summary>
    public static EquatableArray<string> OfNameable(IEnumerable<ITypeSymbol> stored) => Of(stored.Where(IsNameable));

    private static void Visit(ITypeSymbol type, HashSet<ISymbol> seen, List<string> statements)
    {
        if (!seen.Add(type)) return;
        if (type is IArrayTypeSymbol { IsSZArray: true } array)
        {
            Visit(array.ElementType, seen, statements);
            if (array.ElementType.SpecialType != SpecialType.System_Byte) Add("Array", array.ElementType);
            return;
        }
        if (type is not INamedTypeSymbol named) return;
        if (named.TypeKind == TypeKind.Enum) Add("Enum", named);
        foreach (ITypeSymbol argument in named.TypeArguments) Visit(argument, seen, statements);
        if (s_known.Contains(named.MetadataFullName()) && named.Arity > 0) Add(named.Name, [.. named.TypeArguments]);
        else if (Formatter(named) is { } formatter)
            statements.Add($"{Register}<{named.WithNullableAnnotation(NullableAnnotation.None).FullName()}"
                + $"{(named.IsReferenceType ? "?" : "")}>(new {formatter}());");

        void Add(string method, params ITypeSymbol[] arguments) =>
            statements.Add(
                $"{Formatters}.{method}<{string.Join(", ", arguments.Select(argument => argument.FullName()))}>();");
    }

    /// <summary>The constructed formatter of a generic [MessagePackObject] type; others are registered where they
    /// are generated.</summary>
    private static string? Formatter(INamedTypeSymbol type)
    {
        var arguments = new List<ITypeSymbol>();
        for (INamedTypeSymbol? t = type; t is not null; t = t.ContainingType) arguments.InsertRange(0, t.TypeArguments);
        INamedTypeSymbol definition = type.OriginalDefinition;
        if (arguments.Count == 0 || definition.Attribute(Names.ValueAttribute) is null) return null;
        string name = $"{Names.Generated}.{Names.Hint(definition)}Formatter";
        bool isHere = ValueShape.IsInSource(definition) || !ForeignValues.KnowsTango(definition);
        bool exists = isHere
            ? ValueShape.HasModel(definition)
            : definition.ContainingAssembly.GetTypeByMetadataName($"{name}`{arguments.Count}") is { } generated
                && generated.DeclaredAccessibility == Accessibility.Public;
        return exists ? $"global::{name}<{string.Join(", ", arguments.Select(a => a.FullName()))}>" : null;
    }

    private static bool IsNameable(ITypeSymbol type)
    {
        if (type is IArrayTypeSymbol array) return IsNameable(array.ElementType);
        if (type is not INamedTypeSymbol named || named.IsFileLocal) return false;
        bool isVisible = named.DeclaredAccessibility == Accessibility.Public
            || named.DeclaredAccessibility is Accessibility.Internal or Accessibility.ProtectedOrInternal
            && ValueShape.IsInSource(named);
        return (isVisible || named.DeclaredAccessibility == Accessibility.NotApplicable)
            && (named.ContainingType is null || IsNameable(named.ContainingType))
            && named.TypeArguments.All(IsNameable);
    }
}
