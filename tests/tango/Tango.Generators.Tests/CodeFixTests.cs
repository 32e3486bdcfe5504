using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.Text;

namespace Tango.Generators.Tests;

/// <summary>Fixes that an editor offers for an error of the generator, and that the error is gone after each.</summary>
public sealed class CodeFixTests
{
    [Fact]
    public async Task A_missing_body_is_written()
    {
        string fixedSource = await FixAsync(new MissingBodyFix(), "TANGO004", "Write ApplySet", Sources.Object(
            """
            private int _n;
            [Mutator(1)]
            public partial ValueTask<int> SetAsync([VersionKey] string key, int n = 1, CancellationToken ct = default);
            """));
        Assert.Contains(
            "private int ApplySet(string key, int n) => "
            + "throw new System.InvalidOperationException(\"ApplySet is to be written\");",
            fixedSource, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Body_is_written_without_log_only_parameters() => Assert.Contains(
        "private void ApplySet(string key) => ",
        await FixAsync(new MissingBodyFix(), "TANGO004", "Write ApplySet", Sources.Object(
            """
            private int _n;
            [Mutator(1)] public partial ValueTask SetAsync([VersionKey] string key, [LogOnly] int n);
            """)),
        StringComparison.Ordinal);

    [Fact]
    public async Task A_missing_read_is_written() => Assert.Contains(
        "private ImmutableList<int> ReadAll() => "
        + "throw new System.InvalidOperationException(\"ReadAll is to be written\");",
        await FixAsync(new MissingBodyFix(), "TANGO004", "Write ReadAll", Sources.Object(
            """
            private int _n;
            [Accessor] public partial ValueTask<ImmutableList<int>> AllAsync(CancellationToken ct = default);
            """)),
        StringComparison.Ordinal);

    [Fact]
    public async Task Body_gets_the_signature_of_the_declaration()
    {
        string fixedSource = await FixAsync(
            new MissingBodyFix(), "TANGO004", "Give ApplySet the signature of SetAsync", Sources.Object(
                """
                private int _n;
                [Mutator(1)] public partial ValueTask SetAsync(int n, CancellationToken ct = default);
                private async Task ApplySet(long n, CancellationToken ct) { _n = (int)n; }
                """));
        Assert.Contains("private void ApplySet(int n) { _n = (int)n; }", fixedSource, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_number_that_is_taken_becomes_the_next_one() => Assert.Contains(
        "[Mutator(8)] public partial ValueTask AddAsync",
        await FixAsync(new MutatorNumberFix(), "TANGO006", "Give AddAsync the number 8", Sources.Object(
            """
            private int _n;
            [Mutator(7)] public partial ValueTask SetAsync(int n);
            private void ApplySet(int n) => _n = n;
            [Mutator(7)] public partial ValueTask AddAsync(int n);
            private void ApplyAdd(int n) => _n += n;
            """)),
        StringComparison.Ordinal);

    [Fact]
    public async Task Operation_name_gets_the_Async_ending_at_every_use()
    {
        string fixedSource = await FixAsync(
            new OperationNameFix(), "TANGO003", "Rename Set to SetAsync", Sources.Object(
                """
                private int _n;
                [Mutator(1)] public partial ValueTask Set(int n);
                private void ApplySet(int n) => _n = n;
                public ValueTask ClearAsync() => Set(0);
                """));
        Assert.Contains("public partial ValueTask SetAsync(int n);", fixedSource, StringComparison.Ordinal);
        Assert.Contains("ClearAsync() => SetAsync(0);", fixedSource, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_wrong_shape_of_another_kind_has_no_fix() => Assert.Empty(
        (await ActionsAsync(new OperationNameFix(), "TANGO003", Sources.Object(
            "private int _n; [Mutator(1)] public partial ValueTask SetAsync<T>(int n);"))).Actions);

    /// <returns>The source with the fix of that title, whose error the generator does not report any more.</returns>
    private static async Task<string> FixAsync(CodeFixProvider provider, string id, string title, string source)
    {
        (Document document, List<CodeAction> actions) = await ActionsAsync(provider, id, source);
        CodeAction action = Assert.Single(actions);
        Assert.Equal(title, action.Title);
        var change = (ApplyChangesOperation)Assert.Single(await action.GetOperationsAsync(CancellationToken.None));
        Document changed = change.ChangedSolution.GetDocument(document.Id)!;
        string text = (await changed.GetTextAsync()).ToString();
        Assert.DoesNotContain(ErrorsOf((await changed.Project.GetCompilationAsync())!), found => found.Id == id);
        return text;
    }

    private static async Task<(Document Document, List<CodeAction> Actions)> ActionsAsync(
        CodeFixProvider provider, string id, string source)
    {
        Compilation compilation = Compiler.Compile(source);
        using var workspace = new AdhocWorkspace();
        Project project = workspace.AddProject(ProjectInfo.Create(
            ProjectId.CreateNewId(), VersionStamp.Default, "Snippet", "Snippet", LanguageNames.CSharp,
            compilationOptions: compilation.Options, parseOptions: Compiler.ParseOptions,
            metadataReferences: compilation.References));
        Document document = workspace.AddDocument(
            project.Id, "Snippet.cs", SourceText.From(compilation.SyntaxTrees.Single().ToString()));
        SyntaxTree tree = (await document.GetSyntaxTreeAsync())!;
        List<CodeAction> actions = [];
        foreach (Diagnostic error in ErrorsOf((await document.Project.GetCompilationAsync())!))
        {
            if (error.Id != id) continue;
            Assert.Contains(error.Id, provider.FixableDiagnosticIds);
            // The generator's have a path and a place; an editor finds the document by them.
            var context = new CodeFixContext(
                document, Diagnostic.Create(error.Descriptor, Location.Create(tree, error.Location.SourceSpan)),
                (action, _) => actions.Add(action), CancellationToken.None);
            await provider.RegisterCodeFixesAsync(context);
        }

        return (document, actions);
    }

    private static ImmutableArray<Diagnostic> ErrorsOf(Compilation compilation) =>
        Compiler.Driver().RunGenerators(compilation).GetRunResult().Diagnostics;
}
