using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Tango.Generators;

internal static class Reporting
{
    public static void Report(this SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol where,
        params object[] arguments) =>
        context.ReportDiagnostic(Diagnostic.Create(rule, where.Locations.FirstOrDefault(), arguments));

    public static string Minimal(this ITypeSymbol type) =>
        type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat);
}
