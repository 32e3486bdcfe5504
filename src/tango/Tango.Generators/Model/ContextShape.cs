using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>Rules for the shape of a [TangoContext] class, and the reading of its model.</summary>
internal static class ContextShape
{
    /// <summary>The directory's limit on names, of which the context's is a part.</summary>
    private const int MaxNameLength = 512;

    public static EquatableArray<Problem> Problems(INamedTypeSymbol type, CancellationToken cancellation)
    {
        var found = new List<Problem>();
        if (ProblemOf(type, cancellation) is { } problem)
            found.Add(Problem.At(type, Rules.ContextShape, type.Name, problem));
        var members = new Dictionary<string, string>();
        foreach (IPropertySymbol property in Properties(type))
        {
            if (ProblemOf(property, members) is { } wrong)
                found.Add(Problem.At(property, Rules.ContextMember, property.Name, wrong));
        }
        return found.ToEquatable();
    }

    /// <returns>Null: the class cannot be added to.</returns>
    public static ContextModel? Model(INamedTypeSymbol type, CancellationToken cancellation)
    {
        if (!ObjectShape.IsPartial(type, cancellation)) return null;
        AttributeData attribute = type.Attribute(Names.ContextAttribute)!;
        ContextMember[] members = [.. Properties(type).Select(Member)];
        return new ContextModel(
            TypeShell.Of(type), NameOf(attribute) ?? "", IsGroup(attribute), Problems(type, cancellation).Count == 0,
            members.OrderBy(member => member.Member, StringComparer.Ordinal).ToEquatable());
    }

    private static IEnumerable<IPropertySymbol> Properties(INamedTypeSymbol type) =>
        type.GetMembers().OfType<IPropertySymbol>().Where(
            property => property is { IsPartialDefinition: true, PartialImplementationPart: null });

    private static string? ProblemOf(INamedTypeSymbol type, CancellationToken cancellation)
    {
        if (!ObjectShape.IsPartial(type, cancellation)) return "it, and every type around it, must be partial";
        if (!type.BaseType.Is(Names.ContextBase)) return "it must derive directly from TangoContext";
        if (type.IsAbstract) return "it must not be abstract";
        if (type.IsGenericType) return "it must not be generic";
        if (type.InstanceConstructors.Any(constructor => !constructor.IsImplicitlyDeclared))
            return "it must not have a constructor: the generator writes it";
        if (NameOf(type.Attribute(Names.ContextAttribute)!) is not { Length: > 0 and < MaxNameLength / 2 })
            return $"its name must have between 1 and {(MaxNameLength / 2) - 1} characters";
        return Properties(type).Any()
            ? null
            : "it needs an object: 'public partial TangoDictionary<string, Order> Orders { get; }'";
    }

    private static string? ProblemOf(IPropertySymbol property, Dictionary<string, string> members)
    {
        if (property.IsStatic) return "it must not be static";
        if (property.IsIndexer) return "it must not be an indexer";
        if (property.SetMethod is not null || property.GetMethod is null) return "it must have 'get' and nothing else";
        if (!property.Type.BaseType.Is(Names.ObjectBase))
            return $"'{property.Type.Minimal()}' is no Tango object: it must derive from TangoObject";
        string member = MemberName(property);
        if (member.Length is 0 or >= MaxNameLength / 2)
            return $"its name must have between 1 and {(MaxNameLength / 2) - 1} characters";
        if (members.TryGetValue(member, out string? other)) return $"'{other}' has the same name, \"{member}\"";
        members.Add(member, property.Name);
        return null;
    }

    private static ContextMember Member(IPropertySymbol property) => new(
        $"{Names.Accessibility(property)} {(property.IsStatic ? "static " : "")}partial {property.Type.FullName()} "
        + (property.IsIndexer ? Indexer(property) : Names.Escape(property.Name)),
        property.Type.WithNullableAnnotation(NullableAnnotation.NotAnnotated).FullName(), property.Name,
        MemberName(property));

    private static string Indexer(IPropertySymbol property) =>
        $"this[{string.Join(", ", property.Parameters.Select(p => $"{p.Type.FullName()} {Names.Escape(p.Name)}"))}]";

    public static string MemberName(IPropertySymbol property) =>
        property.Attribute(Names.ObjectNameAttribute) is { } attribute ? NameOf(attribute) ?? "" : property.Name;

    public static string? NameOf(AttributeData attribute) =>
        attribute.ConstructorArguments.Length > 0 ? attribute.ConstructorArguments[0].Value as string : null;

    public static bool IsGroup(AttributeData attribute) =>
        !attribute.NamedArguments.Any(argument => argument is { Key: "Group", Value.Value: false });
}
