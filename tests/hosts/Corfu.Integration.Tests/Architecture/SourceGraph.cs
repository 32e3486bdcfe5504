using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>
/// The files of one project and the files whose types each uses, from identifiers alone. Comments, strings, usings and
/// namespaces do not count. The parts of a partial type use each other. Of a dotted name the first part counts.
/// </summary>
internal sealed class SourceGraph
{
    private readonly Dictionary<string, HashSet<string>> _uses = [];

    private SourceGraph(IReadOnlyDictionary<string, HashSet<string>> declared, IEnumerable<SyntaxTree> trees)
    {
        foreach (var tree in trees)
        {
            var used = UsedNames(tree).SelectMany(name => declared.GetValueOrDefault(name, []));
            _uses[tree.FilePath] = [.. used.Where(file => file != tree.FilePath)];
        }
    }

    public static SourceGraph Of(IReadOnlyCollection<SyntaxTree> trees)
    {
        var declared = new Dictionary<string, HashSet<string>>();
        foreach (var tree in trees)
        {
            foreach (var name in DeclaredNames(tree))
            {
                if (!declared.TryGetValue(name, out var files)) declared[name] = files = [];
                files.Add(tree.FilePath);
            }
        }

        return new SourceGraph(declared, trees);
    }

    public static SourceGraph OfProject(string folder) => Of(
    [
        .. Repository.Sources(folder).Select(
            file => SourceCounts.Parse(Repository.Read(file), file)),
    ]);

    /// <summary>The largest set of files in which each reaches each other, in order.</summary>
    public IReadOnlyList<string> LargestComponentOfFiles() => LargestComponent(_uses);

    /// <summary>As <see cref="LargestComponentOfFiles"/>, for the folders that the files are in.</summary>
    public IReadOnlyList<string> LargestComponentOfFolders()
    {
        var uses = _uses.Keys.Select(FolderOf).Distinct().ToDictionary(folder => folder, _ => new HashSet<string>());
        foreach (var (file, used) in _uses) uses[FolderOf(file)].UnionWith(used.Select(FolderOf));
        return LargestComponent(uses);
    }

    /// <summary>Each file with a file that it uses.</summary>
    public IEnumerable<(string File, string Used)> Uses() =>
        from use in _uses
        from used in use.Value
        orderby use.Key, used
        select (use.Key, used);

    private static string FolderOf(string file) => Path.GetDirectoryName(file)!;

    // Nested types are used through the type that has them.
    private static IEnumerable<string> DeclaredNames(SyntaxTree tree) =>
        from node in tree.GetRoot().DescendantNodes()
        where node.Parent is BaseNamespaceDeclarationSyntax or CompilationUnitSyntax
        let name = node switch
        {
            BaseTypeDeclarationSyntax type => type.Identifier.Text,
            DelegateDeclarationSyntax type => type.Identifier.Text,
            _ => null,
        }
        where name is not null
        select name;

    private static IEnumerable<string> UsedNames(SyntaxTree tree)
    {
        var nodes = tree.GetRoot().DescendantNodes(
            static node => node is not (UsingDirectiveSyntax or AttributeArgumentSyntax { NameEquals: not null }));
        foreach (var node in nodes)
        {
            switch (node)
            {
                case SimpleNameSyntax name when !IsBehindADot(name):
                    yield return name.Identifier.Text;
                    if (name.Parent is AttributeSyntax) yield return name.Identifier.Text + "Attribute";
                    break;
                // The parts of a partial type.
                case TypeDeclarationSyntax type when type.Modifiers.Any(SyntaxKind.PartialKeyword):
                    yield return type.Identifier.Text;
                    break;
            }
        }
    }

    private static bool IsBehindADot(SimpleNameSyntax name) => name.Parent switch
    {
        QualifiedNameSyntax qualified => qualified.Right == name,
        MemberAccessExpressionSyntax access => access.Name == name,
        MemberBindingExpressionSyntax => true,
        BaseNamespaceDeclarationSyntax => true,
        _ => false,
    };

    // Tarjan's algorithm.
    private static IReadOnlyList<string> LargestComponent(Dictionary<string, HashSet<string>> uses)
    {
        var (index, lowest) = (new Dictionary<string, int>(), new Dictionary<string, int>());
        var (open, isOpen) = (new Stack<string>(), new HashSet<string>());
        List<string> largest = [];
        foreach (var node in uses.Keys.Order(StringComparer.Ordinal))
        {
            if (!index.ContainsKey(node)) Visit(node);
        }

        return [.. largest.Order(StringComparer.Ordinal)];

        void Visit(string node)
        {
            index[node] = lowest[node] = index.Count;
            open.Push(node);
            isOpen.Add(node);
            foreach (var next in uses[node])
            {
                if (!index.ContainsKey(next))
                {
                    Visit(next);
                    lowest[node] = Math.Min(lowest[node], lowest[next]);
                }
                else if (isOpen.Contains(next)) lowest[node] = Math.Min(lowest[node], index[next]);
            }

            if (lowest[node] != index[node]) return;
            List<string> component = [];
            string last;
            do
            {
                last = open.Pop();
                isOpen.Remove(last);
                component.Add(last);
            }
            while (last != node);

            if (component.Count > largest.Count) largest = component;
        }
    }
}
