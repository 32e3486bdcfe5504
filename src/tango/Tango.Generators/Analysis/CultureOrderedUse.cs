using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tango.Generators;

/// <summary>Finds what orders strings by the culture of the process, because it was given no comparer.</summary>
internal static class CultureOrderedUse
{
    private static readonly HashSet<string> Ordering =
    [
        "Order", "OrderDescending", "OrderBy", "OrderByDescending", "ThenBy", "ThenByDescending", "Max", "Min", "MaxBy",
        "MinBy", "Sort",
        "ToImmutableSortedSet", "ToImmutableSortedDictionary",
    ];

    private static readonly HashSet<string> Sorted =
    [
        "System.Collections.Immutable.ImmutableSortedSet", "System.Collections.Immutable.ImmutableSortedDictionary",
        "System.Collections.Generic.SortedSet", "System.Collections.Generic.SortedDictionary",
        "System.Collections.Generic.SortedList",
        "System.Collections.Generic.PriorityQueue",
    ];

    /// <summary>Name of the operation in a message; null if the operation orders no strings by the culture.</summary>
    public static string? Name(IOperation operation) => operation switch
    {
        IFieldReferenceOperation { Field: { Name: "Empty" } empty }
            when IsOfStrings(empty.ContainingType) && !GetsComparer(operation) =>
            $"{empty.ContainingType.Minimal()}.Empty",
        IObjectCreationOperation { Constructor: { } constructor }
            when IsOfStrings(constructor.ContainingType) && !HasComparer(constructor) =>
            $"new {constructor.ContainingType.Minimal()}",
        IInvocationOperation { TargetMethod: var method }
            when OrdersStrings(method) && !HasComparer(method) && !GetsComparer(operation) =>
            method.Name,
        _ => null,
    };

    private static bool OrdersStrings(IMethodSymbol method)
    {
        bool creates = Sorted.Contains(method.ContainingType.MetadataFullName())
            && method.Name is "Create" or "CreateRange" or "CreateBuilder" && method.IsStatic;
        if (!creates && !Ordering.Contains(method.Name)) return false;
        if (method is { Name: "Sort", ContainingType: { Name: "List", IsGenericType: true } list })
            return IsString(list.TypeArguments[0]);
        int key = method.TypeParameters.Select(p => p.Name).ToList().IndexOf("TKey");
        return method.IsGenericMethod && IsString(method.TypeArguments[Math.Max(key, 0)]);
    }

    private static bool IsOfStrings(INamedTypeSymbol type) =>
        type.IsGenericType && Sorted.Contains(type.MetadataFullName())
        && IsString(type.TypeArguments[type.Name == "PriorityQueue" ? 1 : 0]);

    private static bool IsString(ITypeSymbol type) => type.SpecialType == SpecialType.System_String;

    private static bool HasComparer(IMethodSymbol method) =>
        method.Parameters.Any(p => p.Type.Name is "IComparer" or "Comparison");

    private static bool GetsComparer(IOperation operation) =>
        operation.Parent is IInvocationOperation { TargetMethod.Name: "WithComparer" or "WithComparers" };
}
