using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>Rules for the shape of a [Mutator] or [Accessor] declaration. The analyzer reports what
/// <see cref="Problem"/> says; the generator leaves such a method alone.</summary>
internal static class OperationShape
{
    private static readonly SymbolDisplayFormat s_body = SymbolDisplayFormat.MinimallyQualifiedFormat
        .WithMemberOptions(SymbolDisplayMemberOptions.IncludeAccessibility | SymbolDisplayMemberOptions.IncludeModifiers
            | SymbolDisplayMemberOptions.IncludeType | SymbolDisplayMemberOptions.IncludeParameters
            | SymbolDisplayMemberOptions.IncludeRef);

    public static string? Problem(IMethodSymbol method, bool isMutator)
    {
        if (!method.IsPartialDefinition) return "it must be a partial method without a body";
        if (method.IsStatic) return "it must not be static";
        if (method.IsGenericMethod) return "it must not be generic";
        if (!method.Name.EndsWith(Names.Async, StringComparison.Ordinal) || method.Name.Length == Names.Async.Length)
            return "its name must be XAsync";
        if (!method.ReturnType.Is("System.Threading.Tasks.ValueTask"))
            return isMutator ? "it must return ValueTask or ValueTask<T>" : "it must return ValueTask<T>";
        if (!isMutator && Result(method) is null) return "it must return ValueTask<T>";
        for (int i = 0; i < method.Parameters.Length; i++)
        {
            IParameterSymbol parameter = method.Parameters[i];
            if (parameter.RefKind != RefKind.None) return $"parameter '{parameter.Name}' must be passed by value";
            if (parameter.Type.IsRefLikeType) return $"parameter '{parameter.Name}' must not be a ref struct";
            if (IsToken(parameter) && i != method.Parameters.Length - 1)
                return "the CancellationToken must be the last parameter";
            if (!IsLogOnly(parameter)) continue;
            if (!isMutator) return $"parameter '{parameter.Name}' is [LogOnly], and no accessor's call is in the log";
            if (IsToken(parameter) || parameter.Attribute(Names.KeyAttribute) is not null)
                return $"parameter '{parameter.Name}' must not be [LogOnly]: playback needs it";
        }
        return null;
    }

    public static ITypeSymbol? Result(IMethodSymbol method) =>
        method.ReturnType is INamedTypeSymbol { Arity: 1 } task ? task.TypeArguments[0] : null;

    public static bool IsToken(IParameterSymbol parameter) => parameter.Type.Is("System.Threading.CancellationToken");

    public static IEnumerable<IParameterSymbol> Arguments(IMethodSymbol method) =>
        method.Parameters.Where(p => !IsToken(p));

    /// <summary>The value stays in the log: playback passes over it.</summary>
    public static bool IsLogOnly(IParameterSymbol parameter) => parameter.Attribute(Names.LogOnlyAttribute) is not null;

    /// <summary>The parameters of ApplyX or ReadX.</summary>
    private static IEnumerable<IParameterSymbol> Passed(IMethodSymbol method) =>
        Arguments(method).Where(p => !IsLogOnly(p));

    public static string BaseName(IMethodSymbol method) =>
        method.Name.Substring(0, method.Name.Length - Names.Async.Length);

    /// <summary>The user's ApplyX or ReadX of a declaration, or null if there is none that fits. An ApplyX may take
    /// the place of its call as an added last parameter.</summary>
    public static IMethodSymbol? Body(IMethodSymbol method, bool isMutator)
    {
        string name = BodyName(method, isMutator);
        ITypeSymbol? result = Result(method);
        ITypeSymbol[] arguments = [.. Passed(method).Select(p => p.Type)];
        IMethodSymbol? withPlace = null;
        foreach (ISymbol member in method.ContainingType.GetMembers(name))
        {
            if (member is not IMethodSymbol { IsStatic: false, IsGenericMethod: false } body) continue;
            bool sameResult = result is null
                ? body.ReturnsVoid
                : SymbolEqualityComparer.Default.Equals(body.ReturnType, result) && body.RefKind == RefKind.None;
            bool sameArguments = body.Parameters.Length >= arguments.Length
                && body.Parameters.All(p => p.RefKind == RefKind.None)
                && body.Parameters.Zip(arguments, (p, a) => SymbolEqualityComparer.Default.Equals(p.Type, a))
                    .All(b => b);
            if (!sameResult || !sameArguments) continue;
            if (body.Parameters.Length == arguments.Length) return body;
            if (isMutator && body.Parameters.Length == arguments.Length + 1
                && body.Parameters[arguments.Length].Type.Is(Names.Place)) withPlace = body;
        }
        return withPlace;
    }

    /// <summary>Whether a mutator's ApplyX takes the place of its call.</summary>
    public static bool TakesPlace(IMethodSymbol method) =>
        Body(method, isMutator: true) is { } body && body.Parameters.Length > Passed(method).Count();

    /// <summary>The declaration of the body that is missing, for a message.</summary>
    public static string ExpectedBody(IMethodSymbol method, bool isMutator)
    {
        string result = Result(method)?.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat) ?? "void";
        IEnumerable<string> arguments = Passed(method)
            .Select(p => $"{p.Type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)} {p.Name}");
        return $"private {result} {BodyName(method, isMutator)}({string.Join(", ", arguments)})";
    }

    /// <summary>Text for a message about a member that has the body's name and is not the body; empty if there is
    /// none.</summary>
    public static string Unfit(IMethodSymbol method, bool isMutator) =>
        method.ContainingType.GetMembers(BodyName(method, isMutator)).FirstOrDefault() is { } unfit
            ? $", not '{unfit.ToDisplayString(s_body)}'"
            : "";

    private static string BodyName(IMethodSymbol method, bool isMutator) =>
        (isMutator ? "Apply" : "Read") + BaseName(method);
}
