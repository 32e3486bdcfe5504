using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Tango.Generators;

/// <summary>Reports transactions that end without a look at what became of them.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class DroppedOutcomeAnalyzer : DiagnosticAnalyzer
{
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rules.DroppedOutcome];

    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterOperationAction(Look, OperationKind.ExpressionStatement);
    }

    private static void Look(OperationAnalysisContext context)
    {
        // A lambda of one expression is mostly handed to what waits for its exception.
        if (context.Operation is { IsImplicit: true, Parent.Parent: IAnonymousFunctionOperation }) return;
        IOperation dropped = ((IExpressionStatementOperation)context.Operation).Operation;
        if (dropped is not (IAwaitOperation or IInvocationOperation)) return;
        ITypeSymbol? type = dropped.Type;
        // Not awaited at all.
        if (type is INamedTypeSymbol { Name: "ValueTask" or "Task", Arity: 1 } task) type = task.TypeArguments[0];
        if (!type.Is(Names.Outcome) && !type.Is(Names.Result)) return;
        context.ReportDiagnostic(Diagnostic.Create(Rules.DroppedOutcome, context.Operation.Syntax.GetLocation()));
    }
}
