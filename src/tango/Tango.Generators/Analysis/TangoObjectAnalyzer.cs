using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Tango.Generators;

/// <summary>Reports what is wrong with the values and the state of a [TangoObject] class; what keeps its code from
/// being generated is reported by the generator.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class TangoObjectAnalyzer : DiagnosticAnalyzer
{
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
    [
        Rules.NoFormatter, Rules.UnknownFormatter, Rules.MutableState, Rules.StaticState, Rules.NotAKey,
        Rules.TypeNameTwice, Rules.MutableArgument, Rules.UnclaimedPlace,
    ];

    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterOperationAction(Opened, OperationKind.Invocation);
        context.RegisterCompilationStartAction(static start =>
        {
            var named = new ConcurrentBag<(string Name, INamedTypeSymbol Type)>();
            start.RegisterSymbolAction(
                symbol =>
                {
                    var type = (INamedTypeSymbol)symbol.Symbol;
                    if (type.Attribute(Names.ContextAttribute) is not null) Members(symbol, type);
                    if (type.Attribute(Names.ObjectAttribute) is not { } attribute) return;
                    Analyze(symbol, type);
                    if (attribute.ConstructorArguments.Length > 0
                        && attribute.ConstructorArguments[0].Value is string name) named.Add((name, type));
                },
                SymbolKind.NamedType);
            start.RegisterCompilationEndAction(end => TypeNames(end, named));
        });
    }

    private static void TypeNames(CompilationAnalysisContext context,
        IEnumerable<(string Name, INamedTypeSymbol Type)> named)
    {
        foreach (var group in named.GroupBy(n => n.Name))
        {
            INamedTypeSymbol[] types = [.. group.Select(n => n.Type)
                .OrderBy(t => t.ToDisplayString(), StringComparer.Ordinal)];
            foreach (INamedTypeSymbol type in types.Skip(1))
            {
                context.ReportDiagnostic(
                    Diagnostic.Create(Rules.TypeNameTwice, type.Locations.FirstOrDefault(), type.Name, group.Key,
                        types[0].ToDisplayString()));
            }
        }
    }

    /// <summary>Checks the type arguments where an object is opened: only there are they known.</summary>
    private static void Opened(OperationAnalysisContext context)
    {
        IMethodSymbol method = ((IInvocationOperation)context.Operation).TargetMethod;
        bool opens = method.Name is "OpenAsync" or "OpenWriteOnlyAsync" or "OpenRemoteAsync"
            && method.ContainingType.Is("Tango.TangoRuntime")
            || method.Name is "Add" && method.ContainingType.Is("Tango.TangoGroupBuilder");
        if (!opens || method.Arity != 1) return;
        foreach (Diagnostic problem in Held(method.TypeArguments[0], context.Operation.Syntax.GetLocation()))
            context.ReportDiagnostic(problem);
    }

    private static void Members(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        foreach (IPropertySymbol property in type.GetMembers().OfType<IPropertySymbol>())
        {
            if (!property.IsPartialDefinition) continue;
            foreach (Diagnostic problem in Held(property.Type, property.Locations.FirstOrDefault()))
                context.ReportDiagnostic(problem);
        }
    }

    /// <summary>Problems of the values that an object is opened for.</summary>
    private static IEnumerable<Diagnostic> Held(ITypeSymbol type, Location? where)
    {
        if (type is not INamedTypeSymbol opened) yield break;
        foreach (ITypeSymbol argument in opened.TypeArguments)
        {
            if (TypeFacts.Immutable(argument) is { Knowledge: Knowledge.No } mutable)
                yield return Diagnostic.Create(Rules.MutableArgument, where, opened.Minimal(), argument.Minimal(),
                    mutable.Because(argument));
            if (TypeFacts.Storable(argument) is { Knowledge: not Knowledge.Yes } verdict)
                yield return Diagnostic.Create(Rule(verdict), where, "A value", opened.Minimal(), argument.Minimal(),
                    verdict.Because(argument));
        }
    }

    private static DiagnosticDescriptor Rule(Verdict verdict) =>
        verdict.Knowledge == Knowledge.No ? Rules.NoFormatter : Rules.UnknownFormatter;

    private static void Analyze(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        foreach ((IMethodSymbol method, _, bool isMutator) in ObjectShape.Operations(type))
            Operation(context, method, isMutator);
        State(context, type);
    }

    private static void Operation(SymbolAnalysisContext context, IMethodSymbol method, bool isMutator)
    {
        if (OperationShape.Problem(method, isMutator) is not null) return;
        foreach (IParameterSymbol parameter in OperationShape.Arguments(method))
        {
            bool isKey = parameter.Attribute(Names.KeyAttribute) is not null;
            // Arguments of accessors never reach the log, but their keys reach the version table.
            if (isMutator || isKey)
                Storable(context, parameter, parameter.Type, $"Parameter '{parameter.Name}'", method.Name);
            if (isKey && TypeFacts.Key(parameter.Type) is { Knowledge: Knowledge.No } verdict)
                context.Report(Rules.NotAKey, parameter, parameter.Name, parameter.Type.Minimal(),
                    verdict.Because(parameter.Type));
        }
    }

    private static void State(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        foreach ((ISymbol symbol, ITypeSymbol stateType) in ObjectShape.State(type))
        {
            Verdict immutable = TypeFacts.Immutable(stateType);
            if (immutable.Knowledge == Knowledge.No)
                context.Report(Rules.MutableState, symbol, symbol.Name, stateType.Minimal(),
                    immutable.Because(stateType));
            else Storable(context, symbol, stateType, "State", symbol.Name);
            if (TypeFacts.HasPlaces(stateType) && !type.AllInterfaces.Any(i => i.Is(Names.Index)))
                context.Report(Rules.UnclaimedPlace, symbol, symbol.Name, type.Name);
        }
        foreach (ISymbol member in type.GetMembers())
        {
            if (member is not IFieldSymbol field || field.IsConst) continue;
            ISymbol symbol = field.AssociatedSymbol ?? field;
            if (field.IsStatic && !field.IsReadOnly) context.Report(Rules.StaticState, symbol, symbol.Name);
            else if (!field.IsStatic && field.IsReadOnly
                && TypeFacts.Immutable(field.Type) is { Knowledge: Knowledge.No } verdict)
                context.Report(Rules.MutableState, symbol, symbol.Name, field.Type.Minimal(),
                    verdict.Because(field.Type));
        }
    }

    private static void Storable(SymbolAnalysisContext context, ISymbol where, ITypeSymbol type, string what,
        string owner)
    {
        Verdict verdict = TypeFacts.Storable(type);
        if (verdict.Knowledge == Knowledge.Yes) return;
        context.Report(Rule(verdict), where, what, owner, type.Minimal(), verdict.Because(type));
    }
}
