using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Tango.Generators;

/// <summary>How symbols are written in generated code, and the metadata names of the contract.</summary>
internal static class Names
{
    public const string ObjectBase = "Tango.TangoObject";
    public const string ObjectAttribute = "Tango.TangoObjectAttribute";
    public const string ContextBase = "Tango.TangoContext";
    public const string ContextAttribute = "Tango.TangoContextAttribute";
    public const string ObjectNameAttribute = "Tango.ObjectNameAttribute";
    public const string ValueAttribute = "MessagePack.MessagePackObjectAttribute";
    public const string MemberAttribute = "MessagePack.KeyAttribute";
    public const string IgnoreAttribute = "MessagePack.IgnoreMemberAttribute";
    public const string FormatterAttribute = "MessagePack.MessagePackFormatterAttribute";
    public const string ConstructorAttribute = "MessagePack.SerializationConstructorAttribute";
    public const string CallbackReceiver = "MessagePack.IMessagePackSerializationCallbackReceiver";
    public const string MutatorAttribute = "Tango.MutatorAttribute";
    public const string AccessorAttribute = "Tango.AccessorAttribute";
    public const string KeyAttribute = "Tango.VersionKeyAttribute";
    public const string LogOnlyAttribute = "Tango.LogOnlyAttribute";
    public const string Place = "Tango.LogPlace";
    public const string Index = "Tango.ITangoIndex";
    public const string StoredAttribute = "Tango.TangoStoredAttribute";
    public const string Formatters = "Tango.Formatting.TangoFormatters";
    public const string Outcome = "Tango.TxOutcome";
    public const string Result = "Tango.TxResult";
    public const string Async = "Async";

    /// <summary>The namespace of formatters.</summary>
    public const string Generated = "Tango.Generated";

    public static readonly SymbolDisplayFormat Full = SymbolDisplayFormat.FullyQualifiedFormat
        .AddMiscellaneousOptions(SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier);

    /// <summary>As typeof takes it: no annotations, tuples without the names of their elements.</summary>
    public static readonly SymbolDisplayFormat Plain = SymbolDisplayFormat.FullyQualifiedFormat
        .AddMiscellaneousOptions(SymbolDisplayMiscellaneousOptions.ExpandValueTuple);

    public static string FullName(this ITypeSymbol type) => type.ToDisplayString(Full);

    /// <summary>Namespace, types around and name, without arity and type arguments; also of a tuple, which is
    /// System.ValueTuple.</summary>
    public static string MetadataFullName(this ITypeSymbol type)
    {
        if (type is not INamedTypeSymbol) return type.ToDisplayString();
        string name = type.Name;
        for (INamedTypeSymbol? outer = type.ContainingType; outer is not null; outer = outer.ContainingType)
            name = $"{outer.Name}.{name}";
        return type.ContainingNamespace is { IsGlobalNamespace: false } ns ? $"{ns.ToDisplayString()}.{name}" : name;
    }

    public static string Escape(string name) =>
        SyntaxFacts.GetKeywordKind(name) != SyntaxKind.None
        || SyntaxFacts.GetContextualKeywordKind(name) != SyntaxKind.None ? "@" + name : name;

    /// <summary>A file and class name that is unique in the compilation: dots become underscores, arity is kept. Where
    /// names have underscores of their own, a hash tells them apart.</summary>
    public static string Hint(INamedTypeSymbol type)
    {
        var text = new StringBuilder();
        for (INamedTypeSymbol? t = type; t is not null; t = t.ContainingType)
        {
            text.Insert(0, t.Arity == 0 ? t.Name : $"{t.Name}{t.Arity}");
            if (t.ContainingType is not null) text.Insert(0, "__");
        }
        if (!type.ContainingNamespace.IsGlobalNamespace)
            text.Insert(0, type.ContainingNamespace.ToDisplayString().Replace('.', '_') + "_");
        string exact = type.ToDisplayString(Plain);
        if (exact.Contains('_')) text.Append('_').Append(Hash(exact).ToString("x8"));
        return text.ToString();
    }

    // FNV-1a: the same in every build.
    private static uint Hash(string text)
    {
        uint hash = 2166136261;
        foreach (char c in text) hash = unchecked((hash ^ c) * 16777619);
        return hash;
    }

    public static AttributeData? Attribute(this ISymbol symbol, string metadataName)
    {
        foreach (AttributeData attribute in symbol.GetAttributes())
        {
            if (attribute.AttributeClass is { } type && type.ToDisplayString() == metadataName) return attribute;
        }
        return null;
    }

    public static bool Is(this ITypeSymbol? type, string metadataName) =>
        type is not null && type.MetadataFullName() == metadataName;

    public static T? Named<T>(this AttributeData attribute, string name)
    {
        foreach (KeyValuePair<string, TypedConstant> pair in attribute.NamedArguments)
        {
            if (pair.Key == name && pair.Value.Kind != TypedConstantKind.Array && pair.Value.Value is T value)
                return value;
        }
        return default;
    }

    public static int FirstNumber(this AttributeData attribute) =>
        attribute.ConstructorArguments.Length > 0 && attribute.ConstructorArguments[0].Value is int number ? number : 0;

    /// <summary>As it is written in C#.</summary>
    public static string Accessibility(ISymbol symbol) => symbol.DeclaredAccessibility switch
    {
        Microsoft.CodeAnalysis.Accessibility.Public => "public",
        Microsoft.CodeAnalysis.Accessibility.Internal => "internal",
        Microsoft.CodeAnalysis.Accessibility.Protected => "protected",
        Microsoft.CodeAnalysis.Accessibility.ProtectedOrInternal => "protected internal",
        Microsoft.CodeAnalysis.Accessibility.ProtectedAndInternal => "private protected",
        _ => "private",
    };
}
