using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tango.Generators;

/// <summary>Finds comparers that a keyed collection is given and that do not compare keys as the version table does: by
/// their bytes (R18).</summary>
internal static class KeyComparerUse
{
    private static readonly HashSet<string> Keyed =
        ["ImmutableDictionary", "ImmutableHashSet", "ImmutableSortedDictionary", "ImmutableSortedSet"];

    /// <summary>The comparer, for a message, and the type of the keys; null if the argument is no such one.</summary>
    public static (string Name, ITypeSymbol Key)? Of(IOperation operation)
    {
        if (operation is not IArgumentOperation { Parameter: { } parameter, Parent: IInvocationOperation call } argument
            || parameter.Name == "valueComparer" || !Keyed.Contains(call.TargetMethod.ContainingType.Name)
            || parameter.Type is not INamedTypeSymbol { Name: "IEqualityComparer" or "IComparer", Arity: 1 } comparer)
            return null;
        IOperation value = argument.Value;
        while (value is IConversionOperation conversion) value = conversion.Operand;
        if (value.ConstantValue is { HasValue: true, Value: null } || value is IDefaultValueOperation) return null;
        return value switch
        {
            IPropertyReferenceOperation { Property: var property } when IsByBytes(property) => null,
            IPropertyReferenceOperation or IFieldReferenceOperation or IObjectCreationOperation =>
                (value.Syntax.ToString(), comparer.TypeArguments[0]),
            // Handed in: what it is cannot be seen here.
            _ => null,
        };
    }

    private static bool IsByBytes(IPropertySymbol property) => property.Name switch
    {
        "Ordinal" => property.ContainingType.Is("System.StringComparer"),
        "Default" => property.ContainingType.Name is "EqualityComparer" or "Comparer",
        "Comparer" => property.ContainingType.Is("Tango.Formatting.TangoOrder"),
        // The comparer of an existing collection.
        "KeyComparer" => true,
        _ => false,
    };
}
