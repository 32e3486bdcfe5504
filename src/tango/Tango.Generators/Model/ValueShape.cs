using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Tango.Generators;

/// <summary>Rules for the shape of a [MessagePackObject] type, and the reading of its model.</summary>
internal static class ValueShape
{
    /// <summary>The highest number is written as so many nils; a typing error should not be.</summary>
    public const int MaxSlots = 1000;

    /// <summary>A member that is stored, before it is known whether the numbers make sense.</summary>
    internal sealed record Member(int Number, ISymbol Symbol, ITypeSymbol Type, IParameterSymbol? Parameter);

    public static string? Problem(INamedTypeSymbol type)
    {
        if (type.IsAbstract) return "it must not be abstract: a formatter writes exactly one type";
        if (type.IsRefLikeType) return "it must not be a ref struct";
        if (type.IsFileLocal) return "it must not be file-local";
        for (INamedTypeSymbol? t = type; t is not null; t = t.ContainingType)
        {
            if (!IsVisible(t))
                return "it and the types around it must be public or internal, because the formatter is a class of "
                    + "its own";
        }
        return null;
    }

    /// <summary>Features of MessagePack-CSharp that Tango does not have, each with the place it stands at.</summary>
    public static IEnumerable<(ISymbol Where, string What)> Unsupported(INamedTypeSymbol type)
    {
        AttributeData attribute = type.Attribute(Names.ValueAttribute)!;
        if (attribute.ConstructorArguments.Length > 0 && attribute.ConstructorArguments[0].Value is true)
            yield return (type, "names of properties as keys");
        if (type.AllInterfaces.Any(i => i.Is(Names.CallbackReceiver))) yield return (type, "callbacks");
        if (type.Attribute(Names.FormatterAttribute) is not null) yield return (type, "[MessagePackFormatter]");
        foreach ((ISymbol symbol, _) in IsInSource(type) ? Candidates(type) : PublicMembers(type))
        {
            if (symbol.Attribute(Names.FormatterAttribute) is not null)
                yield return (symbol, "[MessagePackFormatter]");
            if (symbol.Attribute(Names.MemberAttribute)?.ConstructorArguments.FirstOrDefault().Value is string)
                yield return (symbol, "text as a key");
        }
    }

    /// <summary>The members with a number, in order of declaration.</summary>
    public static IReadOnlyList<Member> Members(INamedTypeSymbol type)
    {
        IMethodSymbol? primary = PrimaryConstructor(type);
        var found = new List<Member>();
        foreach ((ISymbol symbol, ITypeSymbol memberType) in IsInSource(type) ? Candidates(type) : PublicMembers(type))
        {
            if (symbol.Attribute(Names.MemberAttribute) is not { } number) continue;
            IParameterSymbol? parameter = primary?.Parameters.FirstOrDefault(p => p.Name == symbol.Name);
            found.Add(new Member(number.FirstNumber(), symbol, memberType, parameter));
        }
        return found;
    }

    /// <summary>Stored state of the type: instance fields and auto-properties, of base types too.</summary>
    public static IEnumerable<(ISymbol Symbol, ITypeSymbol Type)> Candidates(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? t = type; t is not null && t.SpecialType == SpecialType.None; t = t.BaseType)
        {
            foreach (ISymbol member in t.GetMembers())
            {
                if (member is not IFieldSymbol { IsStatic: false, IsConst: false } field) continue;
                if (field.AssociatedSymbol is IPropertySymbol property) yield return (property, property.Type);
                else if (!field.IsImplicitlyDeclared) yield return (field, field.Type);
            }
        }
    }

    /// <summary>Members that can be seen of a type in another assembly.</summary>
    private static IEnumerable<(ISymbol Symbol, ITypeSymbol Type)> PublicMembers(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? t = type; t is not null && t.SpecialType == SpecialType.None; t = t.BaseType)
        {
            foreach (ISymbol member in t.GetMembers())
            {
                if (member is IPropertySymbol { IsStatic: false } property) yield return (property, property.Type);
                else if (member is IFieldSymbol { IsStatic: false, IsConst: false } field)
                    yield return (field, field.Type);
            }
        }
    }

    /// <summary>
    /// The constructor to read with, as one member per parameter: the one with most parameters of those whose
    /// parameters all are members. Null when what it leaves out could not be set by an initialiser.
    /// </summary>
    public static IReadOnlyList<Member>? Construction(INamedTypeSymbol type, IReadOnlyList<Member> members)
    {
        foreach (IMethodSymbol constructor in type.InstanceConstructors
            .OrderByDescending(c => c.Attribute(Names.ConstructorAttribute) is not null)
            .ThenByDescending(c => c.Parameters.Length))
        {
            if (!IsVisible(constructor)) continue;
            List<Member?> used = [.. constructor.Parameters.Select(p => members.FirstOrDefault(m => Fits(m, p)))];
            if (used.Contains(null)) continue;
            if (members.All(m => used.Contains(m) || IsSettable(m.Symbol))) return used!;
        }
        return null;
    }

    public static bool IsReadable(ISymbol member) => member switch
    {
        IPropertySymbol property => IsVisible(property) && property.GetMethod is { } get && IsVisible(get),
        _ => IsVisible(member),
    };

    /// <summary>Whether a formatter can be generated for the type; if not, an analyzer says why.</summary>
    public static bool HasModel(INamedTypeSymbol type) =>
        Problem(type) is null && !Unsupported(type).Any() && Construct(type) is not null;

    private static (IReadOnlyList<Member> Members, IReadOnlyList<Member> Construction)? Construct(INamedTypeSymbol type)
    {
        IReadOnlyList<Member> members = Members(type);
        if (Construction(type, members) is not { } construction) return null;
        bool areSound = members.All(m => IsReadable(m.Symbol) && m.Number is >= 0 and < MaxSlots)
            && members.Select(m => m.Number).Distinct().Count() == members.Count;
        return areSound ? (members, construction) : null;
    }

    public static ValueModel? Model(INamedTypeSymbol type)
    {
        if (Problem(type) is not null || Unsupported(type).Any()) return null;
        if (Construct(type) is not var (members, construction)) return null;
        int count = members.Count == 0 ? 0 : members.Max(m => m.Number) + 1;
        // Numbers without a member were removed.
        SlotModel[] slots = [.. Enumerable.Repeat(new SlotModel(null, "", "", "", false), count)];
        foreach (Member member in members)
        {
            slots[member.Number] = new SlotModel(
                Names.Escape(member.Symbol.Name), member.Type.FullName(),
                member.Type.ToDisplayString(Names.Plain), Default(member),
                !construction.Contains(member));
        }
        List<ITypeParameterSymbol> parameters = AllTypeParameters(type);
        string list = parameters.Count == 0
            ? ""
            : $"<{string.Join(", ", parameters.Select(p => Names.Escape(p.Name)))}>";
        return new ValueModel(
            Names.Hint(type),
            type.FullName(),
            IsInSource(type) && IsPublic(type),
            list,
            string.Concat(parameters.Select(Constraints)),
            type.IsReferenceType,
            type is { IsReferenceType: true, IsSealed: false },
            HasValueEquality(type),
            TypeFacts.Immutable(type).Knowledge == Knowledge.Yes,
            slots.ToEquatable(),
            construction.Select(m => m.Number).ToEquatable(),
            ClosedTypes.Of(members.Select(m => m.Type)),
            Names.Hint(type));
    }

    private static IMethodSymbol? PrimaryConstructor(INamedTypeSymbol type) =>
        type.InstanceConstructors.FirstOrDefault(c =>
        c.DeclaringSyntaxReferences.Any(
            r => r.GetSyntax() is Microsoft.CodeAnalysis.CSharp.Syntax.TypeDeclarationSyntax)
        && !c.Parameters.IsEmpty);

    private static bool Fits(Member member, IParameterSymbol parameter) =>
        parameter.RefKind == RefKind.None
        && string.Equals(member.Symbol.Name.TrimStart('_'), parameter.Name, StringComparison.OrdinalIgnoreCase)
        && SymbolEqualityComparer.Default.Equals(member.Type, parameter.Type);

    private static bool IsSettable(ISymbol member) => member switch
    {
        IFieldSymbol field => !field.IsReadOnly && IsVisible(field),
        IPropertySymbol property => property.SetMethod is { } set && IsVisible(set),
        _ => false,
    };

    /// <summary>False for types of other assemblies.</summary>
    public static bool IsInSource(ISymbol symbol) => symbol.Locations.Any(location => location.IsInSource);

    private static bool IsPublic(INamedTypeSymbol type) =>
        type.DeclaredAccessibility == Accessibility.Public
        && (type.ContainingType is null || IsPublic(type.ContainingType));

    private static bool IsVisible(ISymbol member) =>
        member.DeclaredAccessibility == Accessibility.Public
        || member.DeclaredAccessibility is Accessibility.Internal or Accessibility.ProtectedOrInternal
        && IsInSource(member);

    private static string Default(Member member)
    {
        if (member.Parameter is not { HasExplicitDefaultValue: true, ExplicitDefaultValue: { } value })
            return "default!";
        string literal = SymbolDisplay.FormatPrimitive(value, quoteStrings: true, useHexadecimalNumbers: false)
            ?? "default!";
        return member.Type.SpecialType == SpecialType.System_String
            ? literal
            : $"({member.Type.FullName()})({literal})";
    }

    /// <summary>Are two values equal exactly if their members are? A record or struct without an Equals of the user's,
    /// in its bases too. An explicit implementation counts: dictionaries call it.</summary>
    public static bool HasValueEquality(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? t = type; t is not null && t.SpecialType == SpecialType.None; t = t.BaseType)
        {
            if (t.GetMembers().OfType<IMethodSymbol>().Any(m => IsEquals(m) && IsUsers(m))) return false;
        }
        return type.IsRecord || type.IsValueType;
    }

    private static bool IsEquals(IMethodSymbol method) =>
        method.Name == nameof(Equals) || method.ExplicitInterfaceImplementations.Any(e => e.Name == nameof(Equals));

    private static bool IsUsers(IMethodSymbol method) =>
        !method.IsImplicitlyDeclared
        && method.Attribute("System.Runtime.CompilerServices.CompilerGeneratedAttribute") is null;

    private static List<ITypeParameterSymbol> AllTypeParameters(INamedTypeSymbol type)
    {
        var all = new List<ITypeParameterSymbol>();
        for (INamedTypeSymbol? t = type; t is not null; t = t.ContainingType) all.InsertRange(0, t.TypeParameters);
        return all;
    }

    private static string Constraints(ITypeParameterSymbol parameter)
    {
        var parts = new List<string>();
        if (parameter.HasUnmanagedTypeConstraint) parts.Add("unmanaged");
        else if (parameter.HasValueTypeConstraint) parts.Add("struct");
        else if (parameter.HasReferenceTypeConstraint)
            parts.Add(parameter.ReferenceTypeConstraintNullableAnnotation == NullableAnnotation.Annotated
                ? "class?"
                : "class");
        else if (parameter.HasNotNullConstraint) parts.Add("notnull");
        parts.AddRange(parameter.ConstraintTypes.Select(t => t.FullName()));
        if (parameter.HasConstructorConstraint && !parameter.HasValueTypeConstraint) parts.Add("new()");
        return parts.Count == 0 ? "" : $" where {Names.Escape(parameter.Name)} : {string.Join(", ", parts)}";
    }
}
