using System.Collections.Immutable;
using System.Composition;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Formatting;

namespace Tango.Generators;

/// <summary>TANGO004: writes the ApplyX or ReadX that is missing, or gives the one that is there the signature that its
/// declaration asks for.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(MissingBodyFix))]
[Shared]
public sealed class MissingBodyFix : CodeFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds => ["TANGO004"];

    /// <inheritdoc/>
    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        if (await OperationSyntax.FindAsync(context).ConfigureAwait(false) is not { } method) return;
        SemanticModel? model =
            await context.Document.GetSemanticModelAsync(context.CancellationToken).ConfigureAwait(false);
        if (model?.GetDeclaredSymbol(method, context.CancellationToken) is not { } operation) return;
        string name = OperationSyntax.BodyName(method);
        ImmutableArray<ISymbol> there = operation.ContainingType.GetMembers(name);
        if (there.IsEmpty)
        {
            Register(context, $"Write {name}", root => root.InsertNodesAfter(method, [NewBody(method, name)]));
        }
        else if (there.Length == 1 && there[0].DeclaringSyntaxReferences.FirstOrDefault() is { } place
            && place.SyntaxTree == method.SyntaxTree
            && place.GetSyntax(context.CancellationToken) is MethodDeclarationSyntax body)
        {
            Register(context, $"Give {name} the signature of {operation.Name}",
                root => root.ReplaceNode(body, Fit(body, method)));
        }
    }

    private static void Register(CodeFixContext context, string title, System.Func<SyntaxNode, SyntaxNode> change) =>
        context.RegisterCodeFix(
            CodeAction.Create(
                title,
                async stop =>
                {
                    SyntaxNode root = (await context.Document.GetSyntaxRootAsync(stop).ConfigureAwait(false))!;
                    return context.Document.WithSyntaxRoot(change(root));
                },
                title),
            context.Diagnostics);

    private static MethodDeclarationSyntax NewBody(MethodDeclarationSyntax method, string name) =>
        SyntaxFactory.MethodDeclaration(OperationSyntax.BodyResult(method), name)
            .AddModifiers(SyntaxFactory.Token(SyntaxKind.PrivateKeyword))
            .WithParameterList(OperationSyntax.BodyParameters(method))
            .WithExpressionBody(SyntaxFactory.ArrowExpressionClause(
                SyntaxFactory.ParseExpression(
                    $"throw new System.InvalidOperationException(\"{name} is to be written\")")))
            .WithSemicolonToken(SyntaxFactory.Token(SyntaxKind.SemicolonToken))
            .WithLeadingTrivia(SyntaxFactory.ElasticCarriageReturnLineFeed)
            .WithAdditionalAnnotations(Formatter.Annotation);

    private static MethodDeclarationSyntax Fit(MethodDeclarationSyntax body, MethodDeclarationSyntax method) => body
        .WithReturnType(OperationSyntax.BodyResult(method).WithTriviaFrom(body.ReturnType))
        .WithParameterList(OperationSyntax.BodyParameters(method).WithTriviaFrom(body.ParameterList))
        .WithTypeParameterList(null)
        .WithConstraintClauses(default)
        .WithModifiers(SyntaxFactory.TokenList(body.Modifiers.Where(static modifier =>
            !modifier.IsKind(SyntaxKind.AsyncKeyword) && !modifier.IsKind(SyntaxKind.StaticKeyword))))
        .WithAdditionalAnnotations(Formatter.Annotation);
}
