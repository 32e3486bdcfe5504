using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tango.Generators;

/// <summary>Finds enumerations of collections that have no order of their own, as far as the result can depend on the
/// order.</summary>
internal static class UnorderedUse
{
    private static readonly HashSet<string> Unordered =
    [
        "System.Collections.Generic.Dictionary", "System.Collections.Generic.HashSet",
        "System.Collections.Immutable.ImmutableDictionary",
        "System.Collections.Immutable.ImmutableHashSet", "System.Collections.Concurrent.ConcurrentDictionary",
        "System.Collections.Concurrent.ConcurrentBag", "System.Collections.Frozen.FrozenDictionary",
        "System.Collections.Frozen.FrozenSet",
        "System.Collections.Hashtable",
    ];

    // Linq methods whose result is the same for every order of their source.
    private static readonly HashSet<string> OrderFree =
    [
        "All", "Any", "Contains", "Count", "LongCount", "Max", "Min", "Sum", "Order", "OrderDescending", "OrderBy",
        "OrderByDescending", "ToDictionary",
        "ToHashSet", "ToFrozenDictionary", "ToFrozenSet", "ToImmutableDictionary", "ToImmutableHashSet",
        "ToImmutableSortedDictionary",
        "ToImmutableSortedSet", "SequenceEqual", "ToLookup",
        // By key.
        "GetValueOrDefault",
    ];

    // Linq methods that hand the order of their source on.
    private static readonly HashSet<string> PassOn =
        ["AsEnumerable", "Cast", "Concat", "Distinct", "Except", "Intersect", "OfType", "Prepend", "Append", "Select",
            "SelectMany", "Union", "Where"];

    /// <summary>The collection that a foreach, a spread, a Linq call or an argument enumerates in its hash order; null
    /// if the order cannot matter.</summary>
    public static ITypeSymbol? Of(IOperation operation)
    {
        switch (operation)
        {
            case IForEachLoopOperation loop:
                return Source(loop.Collection);
            case ISpreadOperation spread:
                return IsInUnorderedTarget(spread) ? null : Source(spread.Operand);
            case IInvocationOperation call when IsLinq(call.TargetMethod) && call.Arguments.Length > 0:
                return Source(call.Arguments[0].Value) is { } source && !IsOrderFree(call) ? source : null;
            case IArgumentOperation argument
                when argument.Parameter?.Type.Name == "IEnumerable" && IsOrdered(argument.Parent):
                return Source(argument.Value);
            default:
                return null;
        }
    }

    /// <summary>Can a method that gets an unordered collection keep its order? Sorted and hash collections cannot, Linq
    /// is judged by name.</summary>
    private static bool IsOrdered(IOperation? call)
    {
        IMethodSymbol? target = call switch
        {
            IInvocationOperation invocation => invocation.TargetMethod,
            IObjectCreationOperation creation => creation.Constructor,
            _ => null,
        };
        if (target is null || IsLinq(target)) return false;
        return !IsOrderless(target.ContainingType);
    }

    private static bool IsOrderless(ITypeSymbol type) =>
        Unordered.Contains(type.MetadataFullName()) || type.Name.StartsWith("Sorted", StringComparison.Ordinal)
        || type.Name.StartsWith("ImmutableSorted", StringComparison.Ordinal)
        || type.Name.StartsWith("Frozen", StringComparison.Ordinal);

    private static ITypeSymbol? Source(IOperation operation)
    {
        IOperation value = Unwrap(operation);
        if (value is IPropertyReferenceOperation { Property.Name: "Keys" or "Values", Instance: { } owner })
            value = Unwrap(owner);
        return value.Type is { } type && Unordered.Contains(type.MetadataFullName()) ? type : null;
    }

    private static IOperation Unwrap(IOperation operation)
    {
        while (operation is IConversionOperation conversion) operation = conversion.Operand;
        return operation;
    }

    private static bool IsLinq(IMethodSymbol method) =>
        method.IsExtensionMethod
        && method.ContainingNamespace.ToDisplayString() is "System.Linq" or "System.Collections.Immutable";

    private static bool IsOrderFree(IInvocationOperation call)
    {
        // A sum of floating-point numbers depends on the order.
        if (call.TargetMethod.Name == "Sum")
            return call.TargetMethod.ReturnType.SpecialType is not (SpecialType.System_Double
                or SpecialType.System_Single);
        if (OrderFree.Contains(call.TargetMethod.Name)) return true;
        if (!PassOn.Contains(call.TargetMethod.Name)) return false;
        IOperation? parent = call.Parent;
        while (parent is IConversionOperation or IArgumentOperation) parent = parent.Parent;
        return parent is IInvocationOperation next && IsLinq(next.TargetMethod) && IsOrderFree(next);
    }

    private static bool IsInUnorderedTarget(ISpreadOperation spread) =>
        spread.Parent?.Type is { } target && IsOrderless(target);
}
