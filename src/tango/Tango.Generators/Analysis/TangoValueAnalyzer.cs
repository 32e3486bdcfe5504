using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Tango.Generators;

/// <summary>Reports what is wrong with the declaration of a [MessagePackObject] type.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class TangoValueAnalyzer : DiagnosticAnalyzer
{
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
    [
        Rules.ValueShape, Rules.MemberNumberTwice, Rules.MemberWithoutNumber, Rules.NoFormatter, Rules.UnknownFormatter,
        Rules.Unsupported,
    ];

    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterSymbolAction(Analyze, SymbolKind.NamedType);
    }

    private static void Analyze(SymbolAnalysisContext context)
    {
        var type = (INamedTypeSymbol)context.Symbol;
        if (type.Attribute(Names.ValueAttribute) is null) return;
        if (Generators.ValueShape.Problem(type) is { } problem)
        {
            context.Report(Rules.ValueShape, type, type.Name, problem);
            return;
        }
        (ISymbol Where, string What)[] unsupported = [.. Generators.ValueShape.Unsupported(type)];
        foreach ((ISymbol where, string what) in unsupported)
            context.Report(Rules.Unsupported, where, type.Name, what);
        if (unsupported.Length > 0) return;
        IReadOnlyList<ValueShape.Member> members = Generators.ValueShape.Members(type);
        foreach (ValueShape.Member member in members) Member(context, type, member);
        foreach ((ISymbol symbol, _) in Generators.ValueShape.Candidates(type))
        {
            if (symbol.Attribute(Names.IgnoreAttribute) is null
                && !members.Any(m => SymbolEqualityComparer.Default.Equals(m.Symbol, symbol)))
                context.Report(Rules.MemberWithoutNumber, symbol, symbol.Name);
        }
        Numbers(context, type, members);
        if (Generators.ValueShape.Construction(type, members) is null)
        {
            context.Report(
                Rules.ValueShape, type, type.Name,
                "no visible constructor takes its members (by name and type), with init or set accessors for the rest");
        }
    }

    private static void Member(SymbolAnalysisContext context, INamedTypeSymbol type, ValueShape.Member member)
    {
        if (!Generators.ValueShape.IsReadable(member.Symbol))
            context.Report(Rules.ValueShape, member.Symbol, type.Name,
                $"its member '{member.Symbol.Name}' must be public or internal");
        Verdict verdict = TypeFacts.Storable(member.Type);
        if (verdict.Knowledge == Knowledge.Yes) return;
        DiagnosticDescriptor rule = verdict.Knowledge == Knowledge.No ? Rules.NoFormatter : Rules.UnknownFormatter;
        context.Report(
            rule, member.Symbol, $"Member '{member.Symbol.Name}'", type.Name, member.Type.Minimal(),
            verdict.Because(member.Type));
    }

    private static void Numbers(SymbolAnalysisContext context, INamedTypeSymbol type,
        IReadOnlyList<ValueShape.Member> members)
    {
        var used = new Dictionary<int, string>();
        foreach (ValueShape.Member member in members)
        {
            if (member.Number is < 0 or >= Generators.ValueShape.MaxSlots)
                context.Report(Rules.ValueShape, member.Symbol, type.Name,
                    $"the number of '{member.Symbol.Name}' must be from 0 to {Generators.ValueShape.MaxSlots - 1}");
            else if (used.TryGetValue(member.Number, out string? other))
                context.Report(Rules.MemberNumberTwice, member.Symbol, member.Symbol.Name, member.Number, other);
            else used.Add(member.Number, $"'{member.Symbol.Name}'");
        }
    }
}
