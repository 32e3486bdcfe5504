using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tango.Generators;

/// <summary>Rules for the shape of a [TangoObject] class, and the reading of its model.</summary>
internal static class ObjectShape
{
    public static bool IsPartial(INamedTypeSymbol type, CancellationToken cancellation)
    {
        for (INamedTypeSymbol? t = type; t is not null; t = t.ContainingType)
        {
            bool partial = t.DeclaringSyntaxReferences.Any(r =>
                r.GetSyntax(cancellation) is TypeDeclarationSyntax declaration
                && declaration.Modifiers.Any(m => m.Text == "partial"));
            if (!partial) return false;
        }
        return true;
    }

    public static string? Problem(INamedTypeSymbol type)
    {
        if (!type.BaseType.Is(Names.ObjectBase)) return "it must derive directly from TangoObject";
        if (type.IsAbstract) return "it must not be abstract";
        if (!type.InstanceConstructors.Any(c => c.Parameters.IsEmpty))
            return "it must have a constructor without parameters";
        if (type.Attribute(Names.ObjectAttribute) is { } attribute
            && (attribute.ConstructorArguments.Length == 0
                || attribute.ConstructorArguments[0].Value is not string { Length: > 0 }))
            return "its type name must not be empty";
        return null;
    }

    public static IEnumerable<(IMethodSymbol Method, AttributeData Attribute, bool IsMutator)> Operations(
        INamedTypeSymbol type)
    {
        foreach (ISymbol member in type.GetMembers())
        {
            if (member is not IMethodSymbol { PartialDefinitionPart: null } method) continue;
            if (method.Attribute(Names.MutatorAttribute) is { } mutator) yield return (method, mutator, true);
            else if (method.Attribute(Names.AccessorAttribute) is { } accessor) yield return (method, accessor, false);
        }
    }

    /// <summary>Fields and auto-properties that Apply can change. What is read-only is part of the code, not of the
    /// state.</summary>
    public static IEnumerable<(ISymbol Symbol, ITypeSymbol Type)> State(INamedTypeSymbol type)
    {
        foreach (ISymbol member in type.GetMembers())
        {
            if (member is not IFieldSymbol { IsStatic: false, IsConst: false, IsReadOnly: false } field) continue;
            if (field.AssociatedSymbol is IPropertySymbol property)
            {
                if (property.SetMethod is { IsInitOnly: false }) yield return (property, property.Type);
            }
            else if (!field.IsImplicitlyDeclared)
            {
                yield return (field, field.Type);
            }
        }
    }

    public static ObjectModel? Model(INamedTypeSymbol type, CancellationToken cancellation)
    {
        if (Problem(type) is not null || !IsPartial(type, cancellation)) return null;
        var mutators = new List<OperationModel>();
        var accessors = new List<OperationModel>();
        var numbers = new HashSet<int>();
        foreach ((IMethodSymbol method, AttributeData attribute, bool isMutator) in Operations(type))
        {
            cancellation.ThrowIfCancellationRequested();
            if (!IsWritten(method, attribute, isMutator, numbers)) continue;
            int number = isMutator ? attribute.FirstNumber() : 0;
            (isMutator ? mutators : accessors).Add(Operation(method, attribute, number));
        }
        return new ObjectModel(
            TypeShell.Of(type),
            (string)type.Attribute(Names.ObjectAttribute)!.ConstructorArguments[0].Value!,
            mutators.ToEquatable(),
            accessors.ToEquatable(),
            State(type).Select(s => new StateModel(s.Symbol.Name, s.Type.FullName(), Comparers(s.Type))).ToEquatable(),
            ClosedTypes.Of(ForeignValues.StoredBy(type).Concat(Answers(type))));
    }

    /// <summary>Whether the emitter writes the operation: <see cref="ObjectProblems"/> has nothing to say about
    /// it.</summary>
    /// <param name="numbers">Numbers of the mutators before this one; its own is added.</param>
    public static bool IsWritten(IMethodSymbol method, AttributeData attribute, bool isMutator, HashSet<int> numbers)
    {
        if (OperationShape.Problem(method, isMutator) is not null || OperationShape.Body(method, isMutator) is null)
            return false;
        return !isMutator || (attribute.FirstNumber() is > 0 and var number && numbers.Add(number));
    }

    /// <summary>Types of which readers get copies, if they can be changed in place.</summary>
    private static IEnumerable<ITypeSymbol> Answers(INamedTypeSymbol type) =>
        Operations(type).Select(o => OperationShape.Result(o.Method)).OfType<ITypeSymbol>();

    private static OperationModel Operation(IMethodSymbol method, AttributeData attribute, int number)
    {
        ParameterModel[] parameters =
        [
            .. OperationShape.Arguments(method).Select(p => new ParameterModel(
                p.Type.FullName(), Names.Escape(p.Name), p.Attribute(Names.KeyAttribute) is not null,
                OperationShape.IsLogOnly(p), RefusesNull(p.Type))),
        ];
        IParameterSymbol? token = method.Parameters.LastOrDefault(OperationShape.IsToken);
        return new OperationModel(
            number,
            OperationShape.BaseName(method),
            Names.Accessibility(method),
            OperationShape.Result(method)?.FullName(),
            attribute.Named<bool>("MayReject"),
            parameters.ToEquatable(),
            number > 0 && OperationShape.TakesPlace(method),
            token is null ? null : Names.Escape(token.Name));
    }

    private static bool RefusesNull(ITypeSymbol type) => type switch
    {
        ITypeParameterSymbol parameter => parameter.NullableAnnotation != NullableAnnotation.Annotated
            && (parameter.HasNotNullConstraint || parameter.HasReferenceTypeConstraint),
        _ => type.IsReferenceType && type.NullableAnnotation == NullableAnnotation.NotAnnotated,
    };

    private static int Comparers(ITypeSymbol type) => type.MetadataFullName() switch
    {
        "System.Collections.Immutable.ImmutableSortedSet" or "System.Collections.Immutable.ImmutableHashSet" => 1,
        "System.Collections.Immutable.ImmutableSortedDictionary"
            or "System.Collections.Immutable.ImmutableDictionary" => 2,
        _ => 0,
    };
}
