using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>The partial methods of a [TangoObject] class that the emitter writes nothing for. Each gets a body, so that
/// the compiler's own error about it does not stand beside the one that says what is wrong.</summary>
/// <param name="Methods">Declarations, without attributes and default values.</param>
internal sealed record BrokenObject(TypeShell Shell, EquatableArray<string> Methods)
{
    private static readonly SymbolDisplayFormat s_declaration = new(
        globalNamespaceStyle: SymbolDisplayGlobalNamespaceStyle.Included,
        typeQualificationStyle: SymbolDisplayTypeQualificationStyle.NameAndContainingTypesAndNamespaces,
        genericsOptions: SymbolDisplayGenericsOptions.IncludeTypeParameters
            | SymbolDisplayGenericsOptions.IncludeTypeConstraints,
        memberOptions: SymbolDisplayMemberOptions.IncludeParameters | SymbolDisplayMemberOptions.IncludeType
            | SymbolDisplayMemberOptions.IncludeRef,
        parameterOptions: SymbolDisplayParameterOptions.IncludeType | SymbolDisplayParameterOptions.IncludeName
            | SymbolDisplayParameterOptions.IncludeParamsRefOut,
        miscellaneousOptions: SymbolDisplayMiscellaneousOptions.UseSpecialTypes
            | SymbolDisplayMiscellaneousOptions.EscapeKeywordIdentifiers
            | SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier);

    /// <returns>Null: the compiler has nothing to complain about, or the class cannot be added to.</returns>
    public static BrokenObject? Of(INamedTypeSymbol type, CancellationToken cancellation)
    {
        if (!ObjectShape.IsPartial(type, cancellation)) return null;
        bool nothingIsWritten = ObjectShape.Problem(type) is not null;
        var numbers = new HashSet<int>();
        var methods = new List<string>();
        foreach ((IMethodSymbol method, AttributeData attribute, bool isMutator) in ObjectShape.Operations(type))
        {
            bool isWritten = ObjectShape.IsWritten(method, attribute, isMutator, numbers);
            bool needsBody = method is { IsPartialDefinition: true, PartialImplementationPart: null }
                && !(method.ReturnsVoid && method.DeclaredAccessibility == Accessibility.Private);
            if (needsBody && (nothingIsWritten || !isWritten)) methods.Add(Declaration(method));
        }
        return methods.Count == 0 ? null : new BrokenObject(TypeShell.Of(type), methods.ToEquatable());
    }

    public string Emit()
    {
        var code = new CodeWriter();
        code.OpenType(Shell, "");
        foreach (string method in Methods) code.Line($"{method} => throw null!;");
        code.CloseAll();
        return code.ToString();
    }

    private static string Declaration(IMethodSymbol method) =>
        $"{Names.Accessibility(method)}{(method.IsStatic ? " static" : "")} partial "
        + method.ToDisplayString(s_declaration);
}
