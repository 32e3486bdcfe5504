using System;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tango.Generators;

/// <summary>The declaration of a mutator or accessor, as the user wrote it.</summary>
internal static class OperationSyntax
{
    public const string Async = "Async";

    /// <returns>The declaration that a diagnostic is about; null: it has gone meanwhile.</returns>
    public static async Task<MethodDeclarationSyntax?> FindAsync(CodeFixContext context)
    {
        SyntaxNode? root = await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        return root?.FullSpan.Contains(context.Span) != true
            ? null
            : root.FindNode(context.Span).FirstAncestorOrSelf<MethodDeclarationSyntax>();
    }

    public static AttributeSyntax? MutatorAttribute(MethodDeclarationSyntax method) => method.AttributeLists
        .SelectMany(static list => list.Attributes)
        .FirstOrDefault(static attribute => NameOf(attribute.Name) is "Mutator" or "MutatorAttribute");

    /// <summary>ApplyX of a mutator XAsync, ReadX of an accessor.</summary>
    public static string BodyName(MethodDeclarationSyntax method)
    {
        string name = method.Identifier.ValueText;
        if (name.EndsWith(Async, StringComparison.Ordinal)) name = name.Substring(0, name.Length - Async.Length);
        return (MutatorAttribute(method) is null ? "Read" : "Apply") + name;
    }

    /// <summary>The T of ValueTask&lt;T>, or void.</summary>
    public static TypeSyntax BodyResult(MethodDeclarationSyntax method) =>
        method.ReturnType.DescendantNodesAndSelf().OfType<GenericNameSyntax>()
            .FirstOrDefault(static name => name.Identifier.ValueText == "ValueTask") is { } task
            ? task.TypeArgumentList.Arguments[0].WithoutTrivia()
            : SyntaxFactory.PredefinedType(SyntaxFactory.Token(SyntaxKind.VoidKeyword));

    /// <summary>Without the CancellationToken, what is [LogOnly], attributes and default values.</summary>
    public static ParameterListSyntax BodyParameters(MethodDeclarationSyntax method) =>
        SyntaxFactory.ParameterList(SyntaxFactory.SeparatedList(method.ParameterList.Parameters
            .Where(static parameter => parameter.Type is { } type && NameOf(type) != "CancellationToken"
                && !parameter.AttributeLists.SelectMany(static list => list.Attributes)
                    .Any(static attribute => NameOf(attribute.Name) is "LogOnly" or "LogOnlyAttribute"))
            .Select(static parameter => parameter.WithAttributeLists(default).WithDefault(null).WithoutTrivia())));

    private static string NameOf(SyntaxNode name) => name switch
    {
        QualifiedNameSyntax qualified => qualified.Right.Identifier.ValueText,
        AliasQualifiedNameSyntax alias => alias.Name.Identifier.ValueText,
        SimpleNameSyntax simple => simple.Identifier.ValueText,
        _ => "",
    };
}
