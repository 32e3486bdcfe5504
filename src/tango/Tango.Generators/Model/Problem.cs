using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Text;

namespace Tango.Generators;

/// <summary>A diagnostic without symbols and syntax, so that it can be compared and cached.</summary>
internal sealed record Problem(
    DiagnosticDescriptor Rule, string Path, TextSpan Span, LinePositionSpan Lines, EquatableArray<string> Arguments)
{
    public static Problem At(ISymbol where, DiagnosticDescriptor rule, params string[] arguments)
    {
        Location place = where.Locations.First();
        FileLinePositionSpan lines = place.GetLineSpan();
        return new Problem(rule, lines.Path, place.SourceSpan, lines.Span, arguments.ToEquatable());
    }

    public Diagnostic ToDiagnostic() =>
        Diagnostic.Create(Rule, Location.Create(Path, Span, Lines), [.. Arguments]);
}
