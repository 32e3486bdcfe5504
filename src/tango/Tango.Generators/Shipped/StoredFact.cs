using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Tango.Generators;

/// <summary>Something of the code that logs hold: see <see cref="ShippedFile"/>.</summary>
/// <param name="Place">Text before the colon.</param>
internal sealed record StoredFact(ISymbol Where, string Place, string? Form)
{
    /// <summary>Without annotations of references: they change no byte.</summary>
    private static readonly SymbolDisplayFormat s_type = Names.Plain
        .WithGlobalNamespaceStyle(SymbolDisplayGlobalNamespaceStyle.Omitted)
        .RemoveMiscellaneousOptions(SymbolDisplayMiscellaneousOptions.EscapeKeywordIdentifiers);

    public string Line => Form is null ? Place : $"{Place}: {Form}";

    public static IEnumerable<StoredFact> Of(INamedTypeSymbol type)
    {
        if (type.Attribute(Names.ObjectAttribute) is { } isObject && NameOf(isObject) is { } name)
            return OfObject(type, name);
        if (type.Attribute(Names.ContextAttribute) is { } isContext && NameOf(isContext) is { } context)
            return OfContext(type, context, ContextShape.IsGroup(isContext));
        return type.Attribute(Names.ValueAttribute) is not null && ValueShape.HasModel(type) ? OfValue(type) : [];
    }

    private static IEnumerable<StoredFact> OfObject(INamedTypeSymbol type, string name)
    {
        yield return new StoredFact(type, $"object {name}", null);
        foreach ((IMethodSymbol method, AttributeData attribute, bool isMutator) in ObjectShape.Operations(type))
        {
            int number = attribute.FirstNumber();
            if (!isMutator || number <= 0 || OperationShape.Problem(method, isMutator) is not null) continue;
            string arguments = string.Join(", ", OperationShape.Arguments(method).Select(Parameter));
            string result = OperationShape.Result(method) is { } answer ? $" -> {Type(answer)}" : "";
            yield return new StoredFact(method, $"mutator {name} {number}",
                $"{OperationShape.BaseName(method)}({arguments}){result}");
        }
        foreach ((ISymbol state, ITypeSymbol stateType) in ObjectShape.State(type))
            yield return new StoredFact(state, $"state {name} {state.Name}", Type(stateType));
    }

    private static IEnumerable<StoredFact> OfContext(INamedTypeSymbol type, string name, bool isGroup)
    {
        yield return new StoredFact(type, $"context {name}", isGroup ? "group" : "no group");
        // The other half of these properties is generated when an analyzer looks.
        foreach (IPropertySymbol property in type.GetMembers().OfType<IPropertySymbol>())
        {
            if (!property.IsPartialDefinition) continue;
            string member = ContextShape.MemberName(property);
            string written = SyntaxFacts.IsValidIdentifier(member) ? member : Quote(member);
            yield return new StoredFact(property, $"member {name} {written}",
                property.Type is INamedTypeSymbol opened ? ObjectType(opened) : Type(property.Type));
        }
    }

    private static IEnumerable<StoredFact> OfValue(INamedTypeSymbol type)
    {
        foreach (ValueShape.Member member in ValueShape.Members(type))
        {
            yield return new StoredFact(member.Symbol, $"value {Quote(Type(type))} {member.Number}",
                $"{member.Symbol.Name} {Type(member.Type)}");
        }
    }

    /// <summary>The directory knows an object's type by this name, not by that of its class.</summary>
    private static string ObjectType(INamedTypeSymbol type)
    {
        if (type.Attribute(Names.ObjectAttribute) is not { } attribute || NameOf(attribute) is not { } name)
            return Type(type);
        return type.TypeArguments.IsEmpty ? name : $"{name}<{string.Join(", ", type.TypeArguments.Select(Type))}>";
    }

    // Replicas decide by keys: an argument that becomes a key, or is none any more, is another mutator.
    private static string Parameter(IParameterSymbol parameter) =>
        (parameter.Attribute(Names.KeyAttribute) is null ? "" : "[VersionKey] ") + Type(parameter.Type);

    private static string Type(ITypeSymbol type) => type.ToDisplayString(s_type);

    private static string? NameOf(AttributeData attribute) =>
        ContextShape.NameOf(attribute) is { Length: > 0 } name ? Quote(name) : null;

    private static string Quote(string text) => SymbolDisplay.FormatLiteral(text, quote: true);
}
