using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>Place of a partial type's declaration: the scopes that must be opened around generated members.</summary>
/// <param name="Self">The type with its own type parameters, as seen from inside it.</param>
internal sealed record TypeShell(
    string? Namespace, EquatableArray<string> Outer, string Self, EquatableArray<string> TypeParameters,
    string HintName)
{
    public static TypeShell Of(INamedTypeSymbol type)
    {
        var outer = new List<string>();
        for (INamedTypeSymbol? t = type.ContainingType; t is not null; t = t.ContainingType)
            outer.Insert(0, $"partial {Keyword(t)} {WithParameters(t)}");
        string? ns = type.ContainingNamespace.IsGlobalNamespace ? null : type.ContainingNamespace.ToDisplayString();
        return new TypeShell(
            ns, outer.ToEquatable(), WithParameters(type), type.TypeParameters.Select(p => Names.Escape(p.Name))
                .ToEquatable(), Names.Hint(type));
    }

    private static string WithParameters(INamedTypeSymbol type)
    {
        string name = Names.Escape(type.Name);
        return type.TypeParameters.IsEmpty
            ? name
            : $"{name}<{string.Join(", ", type.TypeParameters.Select(p => Names.Escape(p.Name)))}>";
    }

    private static string Keyword(INamedTypeSymbol type) => (type.TypeKind, type.IsRecord) switch
    {
        (TypeKind.Struct, true) => "record struct",
        (TypeKind.Struct, false) => "struct",
        (TypeKind.Interface, _) => "interface",
        (_, true) => "record",
        _ => "class",
    };
}
