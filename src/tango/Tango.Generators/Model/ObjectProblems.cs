using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>Problems that keep the other half of a [TangoObject] class from being written. The generator reports them,
/// not an analyzer: the compiler runs no analyzer over a class whose partial methods have no bodies.</summary>
internal static class ObjectProblems
{
    public static EquatableArray<Problem> Of(INamedTypeSymbol type, CancellationToken cancellation)
    {
        var found = new List<Problem>();
        if (!ObjectShape.IsPartial(type, cancellation)) found.Add(Problem.At(type, Rules.NotPartial, type.Name));
        if (ObjectShape.Problem(type) is { } problem)
            found.Add(Problem.At(type, Rules.ObjectShape, type.Name, problem));
        var numbers = new Dictionary<int, string>();
        foreach ((IMethodSymbol method, AttributeData attribute, bool isMutator) in ObjectShape.Operations(type))
        {
            cancellation.ThrowIfCancellationRequested();
            found.AddRange(OfOperation(method, isMutator));
            if (isMutator) found.AddRange(OfNumber(method, attribute.FirstNumber(), numbers));
        }
        return found.ToEquatable();
    }

    private static IEnumerable<Problem> OfOperation(IMethodSymbol method, bool isMutator)
    {
        if (OperationShape.Problem(method, isMutator) is { } problem)
        {
            yield return Problem.At(method, Rules.OperationShape, method.Name, isMutator ? "a mutator" : "an accessor",
                problem);
        }
        else if (OperationShape.Body(method, isMutator) is null)
        {
            yield return Problem.At(method, Rules.MissingBody, method.Name,
                OperationShape.ExpectedBody(method, isMutator), OperationShape.Unfit(method, isMutator));
        }
    }

    private static IEnumerable<Problem> OfNumber(IMethodSymbol method, int number, Dictionary<int, string> numbers)
    {
        if (number <= 0) yield return Problem.At(method, Rules.NumberNotPositive, method.Name, $"{number}");
        else if (numbers.TryGetValue(number, out string? other))
            yield return Problem.At(method, Rules.NumberTwice, method.Name, $"{number}", other);
        else numbers.Add(number, method.Name);
    }
}
