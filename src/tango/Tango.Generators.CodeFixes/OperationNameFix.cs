using System;
using System.Collections.Immutable;
using System.Composition;
using System.Threading.Tasks;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.Rename;

namespace Tango.Generators;

/// <summary>TANGO003: renames a mutator or accessor X, with all its uses, to XAsync.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(OperationNameFix))]
[Shared]
public sealed class OperationNameFix : CodeFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds => ["TANGO003"];

    /// <remarks>None: each renames in the whole solution.</remarks>
    /// <inheritdoc/>
    public override FixAllProvider? GetFixAllProvider() => null;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        if (await OperationSyntax.FindAsync(context).ConfigureAwait(false) is not { } method) return;
        SemanticModel? model =
            await context.Document.GetSemanticModelAsync(context.CancellationToken).ConfigureAwait(false);
        if (model?.GetDeclaredSymbol(method, context.CancellationToken) is not { } operation) return;
        // The rule has other causes.
        if (operation.Name.EndsWith(OperationSyntax.Async, StringComparison.Ordinal)) return;
        string name = operation.Name + OperationSyntax.Async;
        context.RegisterCodeFix(
            CodeAction.Create(
                $"Rename {operation.Name} to {name}",
                stop => Renamer.RenameSymbolAsync(
                    context.Document.Project.Solution, operation, default(SymbolRenameOptions), name, stop),
                nameof(OperationNameFix)),
            context.Diagnostics);
    }
}
