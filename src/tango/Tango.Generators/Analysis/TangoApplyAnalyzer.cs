using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Tango.Generators;

/// <summary>
/// Reports what would break determinism in the code that playback runs: Apply methods, what they call in the same
/// class, constructors and initialisers. Also state that is used or changed in the wrong place. Code in other classes
/// is not followed.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class TangoApplyAnalyzer : DiagnosticAnalyzer
{
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
    [
        Rules.NotDeterministic, Rules.UnorderedEnumeration, Rules.UndeclaredRejection, Rules.StateOnHandle,
        Rules.ReadChanges, Rules.CultureOrder,
        Rules.RejectAfterChange, Rules.UncoveredRead, Rules.KeyComparer,
    ];

    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterSymbolStartAction(
            static start =>
            {
                var type = (INamedTypeSymbol)start.Symbol;
                if (type.Attribute(Names.ObjectAttribute) is null) return;
                var findings = new ObjectFindings(type);
                start.RegisterOperationAction(
                    findings.Look,
                    OperationKind.Invocation, OperationKind.ObjectCreation, OperationKind.PropertyReference,
                    OperationKind.FieldReference,
                    OperationKind.MethodReference, OperationKind.Loop, OperationKind.Spread, OperationKind.Await,
                    OperationKind.Argument);
                start.RegisterOperationBlockAction(findings.LookForLateRejection);
                start.RegisterSymbolEndAction(findings.Report);
            },
            SymbolKind.NamedType);
    }

    /// <summary>Gathered from all bodies of one class, judged at its end when it is known who calls whom.</summary>
    private sealed class ObjectFindings(INamedTypeSymbol type)
    {
        private readonly ConcurrentBag<(ISymbol From, IMethodSymbol To)> _calls = [];
        private readonly ConcurrentBag<(ISymbol In, Func<string, Diagnostic> Make)> _inApply = [];
        private readonly ConcurrentBag<(ISymbol In, ISymbol State, bool Writes, Location Where)> _state = [];
        private readonly ConcurrentBag<(ISymbol In, ISymbol State, Location Where)> _decides = [];
        private readonly ConcurrentBag<ISymbol> _rejecting = [];
        private readonly HashSet<ISymbol> _stateSymbols =
            new(Generators.ObjectShape.State(type).Select(s => s.Symbol), SymbolEqualityComparer.Default);

        public void Look(OperationAnalysisContext context)
        {
            ISymbol owner = Owner(context.ContainingSymbol);
            if (!SymbolEqualityComparer.Default.Equals(owner.ContainingType, type)) return;
            IOperation operation = context.Operation;
            Location where = operation.Syntax.GetLocation();
            if (Target(operation) is { } target)
            {
                Call(owner, target);
                if (BannedInApply.Why(target) is { } why)
                    _inApply.Add(
                        (owner,
                            place => Diagnostic.Create(Rules.NotDeterministic, where, Display(target), place, why)));
                if (CultureOrderedUse.Name(operation) is { } name)
                    _inApply.Add((owner, _ => Diagnostic.Create(Rules.CultureOrder, where, name)));
                if (_stateSymbols.Contains(target))
                {
                    _state.Add((owner, target, IsWritten(operation), where));
                    if (OutcomeUse.IsWhole(operation)) _decides.Add((owner, target, where));
                }
            }
            else if (operation is IAwaitOperation)
            {
                _inApply.Add(
                    (owner,
                        place => Diagnostic.Create(Rules.NotDeterministic, where, "await", place,
                            "Apply is synchronous")));
            }
            if (KeyComparerUse.Of(operation) is { } comparer && IsVersionKey(comparer.Key))
                _inApply.Add(
                    (owner, _ => Diagnostic.Create(Rules.KeyComparer, where, owner.Name, comparer.Name)));
            if (UnorderedUse.Of(operation) is { } unordered)
                _inApply.Add(
                    (owner, place => Diagnostic.Create(Rules.UnorderedEnumeration, where, unordered.Minimal(), place)));
        }

        public void LookForLateRejection(OperationBlockAnalysisContext context)
        {
            if (context.OwningSymbol is not IMethodSymbol method) return;
            foreach (IOperation block in context.OperationBlocks.Where(b => b is IBlockOperation))
            {
                foreach (IOperation reject in Generators.RejectAfterChange.In(context.GetControlFlowGraph(block),
                    _stateSymbols))
                    context.ReportDiagnostic(Diagnostic.Create(Rules.RejectAfterChange, reject.Syntax.GetLocation(),
                        method.Name));
            }
        }

        public void Report(SymbolAnalysisContext context)
        {
            (IMethodSymbol Method, AttributeData Attribute, bool IsMutator)[] operations =
                [.. Generators.ObjectShape.Operations(type)];
            var applies = new HashSet<ISymbol>(SymbolEqualityComparer.Default);
            var reads = new HashSet<ISymbol>(SymbolEqualityComparer.Default);
            foreach ((IMethodSymbol method, AttributeData attribute, bool isMutator) in operations)
            {
                if (Generators.OperationShape.Problem(method, isMutator) is not null) continue;
                if (Generators.OperationShape.Body(method, isMutator) is not { } body) continue;
                (isMutator ? applies : reads).Add(body);
                if (isMutator) Rejection(context, method, attribute, body);
                UncoveredReads(context, method, attribute, isMutator, body);
            }
            HashSet<ISymbol> replayed = Reachable(applies.Concat(type.GetMembers().Where(IsInitial)));
            foreach ((ISymbol owner, Func<string, Diagnostic> make) in _inApply)
            {
                if (replayed.Contains(owner))
                    context.ReportDiagnostic(make(IsInitial(owner) ? "the initial state" : owner.Name));
            }
            HashSet<ISymbol> reading = Reachable(reads);
            foreach ((ISymbol owner, ISymbol state, bool writes, Location where) in _state)
            {
                if (writes && reading.Contains(owner) && !replayed.Contains(owner))
                    context.ReportDiagnostic(Diagnostic.Create(Rules.ReadChanges, where, owner.Name, state.Name));
                else if (IsOnHandle(owner) && !applies.Contains(owner) && !reads.Contains(owner))
                    context.ReportDiagnostic(Diagnostic.Create(Rules.StateOnHandle, where, owner.Name, state.Name));
            }
        }

        private void Rejection(SymbolAnalysisContext context, IMethodSymbol method, AttributeData attribute,
            IMethodSymbol body)
        {
            if (Generators.OperationShape.Result(method) is not null || attribute.Named<bool>("MayReject")) return;
            HashSet<ISymbol> reached = Reachable([body]);
            if (_rejecting.Any(reached.Contains))
                context.Report(Rules.UndeclaredRejection, method, method.Name, attribute.FirstNumber());
        }

        private void UncoveredReads(SymbolAnalysisContext context, IMethodSymbol method, AttributeData attribute,
            bool isMutator, IMethodSymbol body)
        {
            bool reads = !isMutator || Generators.OperationShape.Result(method) is not null
                || attribute.Named<bool>("MayReject");
            if (!reads || !method.Parameters.Any(p => p.Attribute(Names.KeyAttribute) is not null)) return;
            HashSet<ISymbol> reached = Reachable([body]);
            foreach ((ISymbol owner, ISymbol state, Location where) in _decides)
            {
                if (reached.Contains(owner))
                    context.ReportDiagnostic(Diagnostic.Create(Rules.UncoveredRead, where, method.Name, state.Name));
            }
        }

        private bool IsVersionKey(ITypeSymbol key) => type.GetMembers().OfType<IMethodSymbol>()
            .SelectMany(m => m.Parameters)
            .Any(p => p.Attribute(Names.KeyAttribute) is not null
                && SymbolEqualityComparer.Default.Equals(p.Type, key));

        private void Call(ISymbol owner, ISymbol target)
        {
            IMethodSymbol? called = target as IMethodSymbol;
            if (target is IPropertySymbol property
                && SymbolEqualityComparer.Default.Equals(property.ContainingType, type))
                called = property.GetMethod ?? property.SetMethod;
            if (called is null) return;
            if (called.Name == "Reject" && called.ContainingType.Is(Names.ObjectBase)) _rejecting.Add(owner);
            if (SymbolEqualityComparer.Default.Equals(called.ContainingType.OriginalDefinition, type))
                _calls.Add((owner, called.OriginalDefinition));
        }

        private HashSet<ISymbol> Reachable(IEnumerable<ISymbol> roots)
        {
            var reached = new HashSet<ISymbol>(roots, SymbolEqualityComparer.Default);
            var queue = new Queue<ISymbol>(reached);
            ILookup<ISymbol?, IMethodSymbol> calls = _calls.ToLookup(c => (ISymbol?)c.From, c => c.To,
                SymbolEqualityComparer.Default);
            while (queue.Count > 0)
            {
                foreach (IMethodSymbol next in calls[queue.Dequeue()])
                {
                    ISymbol owner = Owner(next);
                    if (reached.Add(owner)) queue.Enqueue(owner);
                }
            }
            return reached;
        }

        // Accessors count as their property, lambdas and local functions as the method around them.
        private static ISymbol Owner(ISymbol symbol)
        {
            ISymbol current = symbol;
            while (current is IMethodSymbol { MethodKind: MethodKind.LocalFunction or MethodKind.AnonymousFunction })
                current = current.ContainingSymbol;
            return (current as IMethodSymbol)?.AssociatedSymbol ?? current;
        }

        private static ISymbol? Target(IOperation operation) => operation switch
        {
            IInvocationOperation call => call.TargetMethod,
            IObjectCreationOperation creation => creation.Constructor,
            IPropertyReferenceOperation property => property.Property,
            IFieldReferenceOperation field => field.Field,
            IMethodReferenceOperation method => method.Method,
            _ => null,
        };

        private static bool IsInitial(ISymbol member) => member switch
        {
            IMethodSymbol { MethodKind: MethodKind.Constructor } => true,
            IFieldSymbol { IsStatic: false } => true,
            // An auto-property's initialiser; a property with a body is judged by who calls it.
            IPropertySymbol { IsStatic: false } property =>
                property.ContainingType.GetMembers()
                    .Any(
                        m =>
                            m is IFieldSymbol f && SymbolEqualityComparer.Default.Equals(f.AssociatedSymbol, property)),
            _ => false,
        };

        private static bool IsOnHandle(ISymbol owner) =>
            !owner.IsStatic
            && owner is IMethodSymbol { MethodKind: MethodKind.Ordinary } or IPropertySymbol
            && owner.DeclaredAccessibility is not (Accessibility.Private or Accessibility.NotApplicable);

        private static bool IsWritten(IOperation reference)
        {
            IOperation operation = reference;
            while (operation.Parent is ITupleOperation) operation = operation.Parent;
            return operation.Parent switch
            {
                IAssignmentOperation assignment => assignment.Target == operation,
                IIncrementOrDecrementOperation => true,
                IArgumentOperation argument => argument.Parameter?.RefKind is RefKind.Ref or RefKind.Out,
                _ => false,
            };
        }

        private static string Display(ISymbol member) => member is IMethodSymbol { MethodKind: MethodKind.Constructor }
            ? $"new {member.ContainingType.Name}"
            : $"{member.ContainingType.Name}.{member.Name}";
    }
}
