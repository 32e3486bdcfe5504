using Microsoft.CodeAnalysis;

namespace Tango.Generators;

internal enum Knowledge
{
    Yes,
    Unknown,
    No,
}

/// <summary>The verdict on a type, and the part of it that the verdict is about.</summary>
internal readonly record struct Verdict(Knowledge Knowledge, ITypeSymbol? Culprit)
{
    public static Verdict Yes => new(Knowledge.Yes, null);

    /// <summary>" (because of 'X')" when a part of the type is to blame.</summary>
    public string Because(ITypeSymbol whole) =>
        Culprit is null || SymbolEqualityComparer.Default.Equals(Culprit, whole)
            ? ""
            : $" (because of '{Culprit.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)}')";
}

/// <summary>Facts about types at compile time: whether they can be stored, be keys, or be changed in place.</summary>
internal static class TypeFacts
{
    private static readonly HashSet<string> Simple =
    [
        "System.Guid", "System.DateTime", "System.DateTimeOffset", "System.TimeSpan", "System.DateOnly",
        "System.TimeOnly", "System.Decimal", Names.Place,
    ];

    private static readonly HashSet<string> NotCanonical =
        ["System.Decimal", "System.DateTime", "System.DateTimeOffset", "System.Double", "System.Single"];

    // Immutable as long as their type arguments are.
    private static readonly HashSet<string> Persistent =
    [
        "System.Nullable", "System.ValueTuple", "System.Tuple", "System.Collections.Generic.KeyValuePair",
        "System.Collections.Immutable.ImmutableArray", "System.Collections.Immutable.ImmutableList",
        "System.Collections.Immutable.ImmutableQueue",
        "System.Collections.Immutable.ImmutableStack", "System.Collections.Immutable.ImmutableHashSet",
        "System.Collections.Immutable.ImmutableSortedSet", "System.Collections.Immutable.ImmutableDictionary",
        "System.Collections.Immutable.ImmutableSortedDictionary",
    ];

    private static readonly HashSet<string> Mutable =
    [
        "System.Collections.Generic.List", "System.Collections.Generic.Queue", "System.Collections.Generic.Stack",
        "System.Collections.Generic.HashSet",
        "System.Collections.Generic.SortedSet", "System.Collections.Generic.Dictionary",
        "System.Collections.Generic.SortedDictionary",
        "System.Collections.Generic.LinkedList", "System.Collections.Generic.SortedList",
        "System.Collections.Generic.PriorityQueue",
        "System.Collections.Generic.IReadOnlyList", "System.ReadOnlyMemory", "System.Memory",
    ];

    // Mutable types with a built-in formatter (arguments may use them).
    private static readonly HashSet<string> StorableMutable =
    [
        "System.Collections.Generic.List", "System.Collections.Generic.Queue", "System.Collections.Generic.Stack",
        "System.Collections.Generic.HashSet",
        "System.Collections.Generic.SortedSet", "System.Collections.Generic.Dictionary",
        "System.Collections.Generic.SortedDictionary",
        "System.Collections.Generic.IReadOnlyList", "System.ReadOnlyMemory",
    ];

    private static readonly HashSet<string> ValueEqualityGenerics =
        ["System.Nullable", "System.ValueTuple", "System.Tuple", "System.Collections.Generic.KeyValuePair"];

    public static Verdict Storable(ITypeSymbol type)
    {
        if (type is ITypeParameterSymbol || IsPrimitive(type) || type.TypeKind == TypeKind.Enum) return Verdict.Yes;
        if (type is IArrayTypeSymbol array)
            return array.IsSZArray ? Storable(array.ElementType) : new Verdict(Knowledge.No, type);
        if (type is not INamedTypeSymbol named || type.IsRefLikeType) return new Verdict(Knowledge.No, type);
        string name = type.MetadataFullName();
        if (Simple.Contains(name)) return Verdict.Yes;
        if (named.Attribute(Names.ValueAttribute) is not null || Persistent.Contains(name)
            || StorableMutable.Contains(name))
            return Worst(named.TypeArguments.Select(Storable));
        bool hopeless = type.SpecialType == SpecialType.System_Object
            || type.TypeKind is TypeKind.Delegate or TypeKind.Dynamic or TypeKind.Pointer
            || Mutable.Contains(name) || name.StartsWith("System.Threading.", StringComparison.Ordinal)
            || name.StartsWith("System.IO.", StringComparison.Ordinal);
        return new Verdict(hopeless ? Knowledge.No : Knowledge.Unknown, type);
    }

    /// <summary>May the bytes of a value stand for it in the version table (R18)?</summary>
    public static Verdict Key(ITypeSymbol type) => Key(type, []);

    /// <summary>May a value of this type hold a place in the log?</summary>
    public static bool HasPlaces(ITypeSymbol type) => HasPlaces(type, []);

    /// <summary>Can nothing reachable from a value of this type change?</summary>
    public static Verdict Immutable(ITypeSymbol type) => Immutable(type, []);

    private static Verdict Key(ITypeSymbol type, HashSet<ITypeSymbol> seen)
    {
        string name = type.MetadataFullName();
        if (NotCanonical.Contains(name) || type is IArrayTypeSymbol) return new Verdict(Knowledge.No, type);
        if (type is ITypeParameterSymbol || IsPrimitive(type) || type.TypeKind == TypeKind.Enum
            || Simple.Contains(name)) return Verdict.Yes;
        if (type is not INamedTypeSymbol named) return new Verdict(Knowledge.No, type);
        if (ValueEqualityGenerics.Contains(name)) return Worst(named.TypeArguments.Select(a => Key(a, seen)));
        if (Persistent.Contains(name) || Mutable.Contains(name)) return new Verdict(Knowledge.No, type);
        if (named.Attribute(Names.ValueAttribute) is null || !seen.Add(type))
            return new Verdict(Knowledge.Unknown, type);
        if (!Generators.ValueShape.HasValueEquality(named)) return new Verdict(Knowledge.No, type);
        return Worst(Generators.ValueShape.Members(named).Select(m => Key(m.Type, seen)));
    }

    private static Verdict Immutable(ITypeSymbol type, HashSet<ITypeSymbol> seen)
    {
        if (type is ITypeParameterSymbol || IsPrimitive(type) || type.TypeKind == TypeKind.Enum) return Verdict.Yes;
        if (type is not INamedTypeSymbol named) return new Verdict(Knowledge.No, type);
        string name = type.MetadataFullName();
        if (Simple.Contains(name)) return Verdict.Yes;
        if (Persistent.Contains(name)) return Worst(named.TypeArguments.Select(a => Immutable(a, seen)));
        if (Mutable.Contains(name)) return new Verdict(Knowledge.No, type);
        if (!seen.Add(type)) return Verdict.Yes;
        if (type.TypeKind is not (TypeKind.Class or TypeKind.Struct)) return new Verdict(Knowledge.Unknown, type);
        Verdict worst = Verdict.Yes;
        // A type of another assembly shows its setters, but perhaps not all its fields.
        foreach ((ISymbol symbol, ITypeSymbol member) in Generators.ValueShape.Candidates(named))
        {
            if (type.IsReferenceType && IsAssignable(symbol)) return new Verdict(Knowledge.No, type);
            Verdict inner = Immutable(member, seen);
            if (inner.Knowledge == Knowledge.No) return inner;
            if (inner.Knowledge > worst.Knowledge) worst = inner;
        }
        return worst;
    }

    private static bool HasPlaces(ITypeSymbol type, HashSet<ITypeSymbol> seen)
    {
        if (type.Is(Names.Place)) return true;
        if (type is not INamedTypeSymbol named || !seen.Add(type)) return false;
        return named.TypeArguments.Any(a => HasPlaces(a, seen))
            || named.Attribute(Names.ValueAttribute) is not null
            && Generators.ValueShape.Members(named).Any(m => HasPlaces(m.Type, seen));
    }

    private static bool IsAssignable(ISymbol member) => member switch
    {
        IFieldSymbol field => !field.IsReadOnly,
        IPropertySymbol property => property.SetMethod is { IsInitOnly: false },
        _ => false,
    };

    private static bool IsPrimitive(ITypeSymbol type) => type.SpecialType is
        SpecialType.System_Boolean or SpecialType.System_Byte or SpecialType.System_SByte or SpecialType.System_Int16
        or SpecialType.System_UInt16 or SpecialType.System_Int32 or SpecialType.System_UInt32
        or SpecialType.System_Int64
        or SpecialType.System_UInt64 or SpecialType.System_Char or SpecialType.System_Single
        or SpecialType.System_Double
        or SpecialType.System_String;

    private static Verdict Worst(IEnumerable<Verdict> verdicts)
    {
        Verdict worst = Verdict.Yes;
        foreach (Verdict verdict in verdicts)
        {
            if (verdict.Knowledge > worst.Knowledge) worst = verdict;
        }
        return worst;
    }
}
