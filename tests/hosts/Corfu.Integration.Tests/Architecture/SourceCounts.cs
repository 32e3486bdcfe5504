using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>The rules that <see cref="RatchetTests"/> counts: each finds the nodes or comments that break it.</summary>
internal static partial class SourceCounts
{
    private const int MethodLines = 60;
    private const int Parameters = 8;

    private static readonly CSharpParseOptions s_options = new(LanguageVersion.Preview, DocumentationMode.Parse);

    private static readonly string[] s_inline = ["a", "b", "c", "code", "em", "i", "see"];

    public static SyntaxTree Parse(string source, string file) => CSharpSyntaxTree.ParseText(source, s_options, file);

    /// <summary>Blocks of // lines, and elements of docstrings, whose first word is a pronoun.</summary>
    public static IEnumerable<Location> CommentsWithoutASubject(SyntaxTree tree) =>
        from comment in Blocks(tree).Concat(DocstringTexts(tree))
        where Pronoun().IsMatch(comment.Text)
        select Location.Create(tree, comment.Span);

    /// <summary>Lines of comments that cite rules and say nothing.</summary>
    public static IEnumerable<Location> CommentLinesOfRuleNumbers(SyntaxTree tree)
    {
        var text = tree.GetText();
        var lines = from trivia in tree.GetRoot().DescendantTrivia()
                    where IsComment(trivia) || IsDocstring(trivia)
                    let span = text.Lines.GetLinePositionSpan(trivia.FullSpan)
                    from line in Enumerable.Range(span.Start.Line, span.End.Line - span.Start.Line + 1)
                    select text.Lines[line];
        return from line in lines.Distinct()
               where RuleNumbers().IsMatch(line.ToString())
               select Location.Create(tree, line.Span);
    }

    /// <summary>Tests whose names hold a pronoun where Subject_condition_outcome has nouns.</summary>
    public static IEnumerable<Location> TestNamesWithoutASubject(SyntaxTree tree) =>
        from method in tree.GetRoot().DescendantNodes().OfType<MethodDeclarationSyntax>()
        where method.AttributeLists.SelectMany(list => list.Attributes)
            .Any(attribute => attribute.Name.ToString() is "Fact" or "Theory")
        where NamelessWord().IsMatch(method.Identifier.Text)
        select method.Identifier.GetLocation();

    /// <summary>Methods, constructors, accessors and local functions above 60 lines, from the declaration's first line
    /// without attributes to the last.</summary>
    public static IEnumerable<Location> LongMethods(SyntaxTree tree) =>
        from node in tree.GetRoot().DescendantNodes()
        let start = node switch
        {
            BaseMethodDeclarationSyntax method => method.ParameterList.SpanStart,
            LocalFunctionStatementSyntax function => function.Identifier.SpanStart,
            AccessorDeclarationSyntax accessor => accessor.Keyword.SpanStart,
            _ => -1,
        }
        where start >= 0
        let location = Location.Create(tree, TextSpan.FromBounds(start, node.Span.End))
        let lines = location.GetLineSpan().Span
        where lines.End.Line - lines.Start.Line + 1 > MethodLines
        select location;

    /// <summary>Constructors above 8 parameters. Positional records list their data and are not counted.</summary>
    public static IEnumerable<Location> WideConstructors(SyntaxTree tree) =>
        from node in tree.GetRoot().DescendantNodes()
        let parameters = node switch
        {
            ConstructorDeclarationSyntax constructor => constructor.ParameterList,
            RecordDeclarationSyntax => null,
            TypeDeclarationSyntax type => type.ParameterList,
            _ => null,
        }
        where parameters?.Parameters.Count > Parameters
        select parameters.GetLocation();

    // The // lines that follow each other without code between, as one text.
    private static IEnumerable<(TextSpan Span, string Text)> Blocks(SyntaxTree tree)
    {
        var previous = -2;
        foreach (var trivia in tree.GetRoot().DescendantTrivia().Where(IsComment))
        {
            var lines = trivia.GetLocation().GetLineSpan().Span;
            var follows = lines.Start.Line == previous + 1 && IsAlone(trivia);
            previous = lines.End.Line;
            if (!follows) yield return (trivia.Span, trivia.ToString().TrimStart('/', '*', ' '));
        }
    }

    // The first text of each element, but of those inside a sentence.
    private static IEnumerable<(TextSpan Span, string Text)> DocstringTexts(SyntaxTree tree) =>
        from trivia in tree.GetRoot().DescendantTrivia()
        where IsDocstring(trivia)
        from element in trivia.GetStructure()!.DescendantNodes().OfType<XmlElementSyntax>()
        where !s_inline.Contains(element.StartTag.Name.ToString())
        let first = element.Content.FirstOrDefault(node => !IsBlank(node))
        where first is XmlTextSyntax
        let token = ((XmlTextSyntax)first).TextTokens.First(token => !string.IsNullOrWhiteSpace(token.Text))
        select (token.Span, token.Text.Trim());

    private static bool IsBlank(XmlNodeSyntax node) =>
        node is XmlTextSyntax text && text.TextTokens.All(token => string.IsNullOrWhiteSpace(token.Text));

    private static bool IsAlone(SyntaxTrivia trivia)
    {
        var line = trivia.SyntaxTree!.GetText().Lines.GetLineFromPosition(trivia.SpanStart);
        return string.IsNullOrWhiteSpace(line.ToString()[..(trivia.SpanStart - line.Start)]);
    }

    private static bool IsComment(SyntaxTrivia trivia) =>
        trivia.Kind() is SyntaxKind.SingleLineCommentTrivia or SyntaxKind.MultiLineCommentTrivia;

    private static bool IsDocstring(SyntaxTrivia trivia) =>
        trivia.Kind() is SyntaxKind.SingleLineDocumentationCommentTrivia
            or SyntaxKind.MultiLineDocumentationCommentTrivia;

    [GeneratedRegex(@"^(It|Its|Of|What|One|Those|So|Where|They|Their|These)\b")]
    private static partial Regex Pronoun();

    [GeneratedRegex(@"^\s*///?\s*(<\w+>)?\s*(R\d+(,\s*|\s+and\s+|\.?\s*))+(</\w+>)?\s*$")]
    private static partial Regex RuleNumbers();

    [GeneratedRegex("(^|_)(it|its|what|nothing|those|they|them|their|others)(_|$)", RegexOptions.IgnoreCase)]
    private static partial Regex NamelessWord();
}
