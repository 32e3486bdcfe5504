using System.Collections.Immutable;
using System.Composition;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tango.Generators;

/// <summary>TANGO005, TANGO006: gives the mutator the number after the highest one of its class.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(MutatorNumberFix))]
[Shared]
public sealed class MutatorNumberFix : CodeFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds => ["TANGO005", "TANGO006"];

    /// <remarks>None: two fixes at once would take the same number.</remarks>
    /// <inheritdoc/>
    public override FixAllProvider? GetFixAllProvider() => null;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        if (await OperationSyntax.FindAsync(context).ConfigureAwait(false) is not { } method) return;
        if (OperationSyntax.MutatorAttribute(method)?.ArgumentList?.Arguments.FirstOrDefault() is not { } number)
            return;
        SemanticModel? model =
            await context.Document.GetSemanticModelAsync(context.CancellationToken).ConfigureAwait(false);
        if (model?.GetDeclaredSymbol(method, context.CancellationToken) is not { } operation) return;
        int free = operation.ContainingType.GetMembers().SelectMany(static member => member.GetAttributes())
            .Where(static attribute => attribute.AttributeClass?.Name == "MutatorAttribute")
            .Select(static attribute => attribute.ConstructorArguments.FirstOrDefault().Value is int taken ? taken : 0)
            .Append(0).Max() + 1;
        string title = $"Give {operation.Name} the number {free}";
        context.RegisterCodeFix(
            CodeAction.Create(
                title,
                async stop =>
                {
                    SyntaxNode root = (await context.Document.GetSyntaxRootAsync(stop).ConfigureAwait(false))!;
                    LiteralExpressionSyntax literal = SyntaxFactory.LiteralExpression(
                        SyntaxKind.NumericLiteralExpression, SyntaxFactory.Literal(free));
                    return context.Document.WithSyntaxRoot(
                        root.ReplaceNode(number.Expression, literal.WithTriviaFrom(number.Expression)));
                },
                nameof(MutatorNumberFix)),
            context.Diagnostics);
    }
}
