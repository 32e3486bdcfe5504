using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Tango.Generators;

/// <summary>Holds what logs hold against TangoObjects.Shipped.txt, if the project has it.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class ShippedAnalyzer : DiagnosticAnalyzer
{
    /// <summary>Property of a TANGO043: the line that is missing.</summary>
    public const string LineProperty = "Line";

    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
    [
        Rules.ShippedMissing, Rules.ShippedChanged, Rules.RemovedUsedAgain, Rules.NotShipped, Rules.ShippedLine,
    ];

    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(static start =>
        {
            if (ShippedFile.Of(start.Options.AdditionalFiles, start.CancellationToken) is not { } shipped) return;
            var found = new ConcurrentDictionary<string, bool>();
            start.RegisterSymbolAction(
                symbol =>
                {
                    foreach (StoredFact fact in StoredFact.Of((INamedTypeSymbol)symbol.Symbol))
                    {
                        found[fact.Place] = true;
                        if (Problem(fact, shipped) is { } problem) symbol.ReportDiagnostic(problem);
                    }
                },
                SymbolKind.NamedType);
            start.RegisterCompilationEndAction(end => AtEnd(end, shipped, found));
        });
    }

    private static Diagnostic? Problem(StoredFact fact, ShippedFile shipped)
    {
        Location? where = fact.Where.Locations.FirstOrDefault();
        if (!shipped.Lines.TryGetValue(fact.Place, out ShippedLine? line))
        {
            return Diagnostic.Create(Rules.NotShipped, where,
                ImmutableDictionary<string, string?>.Empty.Add(LineProperty, fact.Line), fact.Line);
        }
        if (line.IsRemoved) return Diagnostic.Create(Rules.RemovedUsedAgain, where, fact.Line, line.What);
        return line.What == fact.Line ? null : Diagnostic.Create(Rules.ShippedChanged, where, fact.Line, line.What);
    }

    private static void AtEnd(CompilationAnalysisContext context, ShippedFile shipped,
        ConcurrentDictionary<string, bool> found)
    {
        foreach ((Location where, string line, string why) in shipped.Wrong)
            context.ReportDiagnostic(Diagnostic.Create(Rules.ShippedLine, where, line, why));
        foreach (KeyValuePair<string, ShippedLine> line in shipped.Lines)
        {
            if (!line.Value.IsRemoved && !found.ContainsKey(line.Key))
                context.ReportDiagnostic(Diagnostic.Create(Rules.ShippedMissing, line.Value.Where, line.Value.What));
        }
    }
}
