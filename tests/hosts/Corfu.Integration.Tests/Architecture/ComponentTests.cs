namespace Corfu.Integration.Tests.Architecture;

/// <summary>
/// How much of a project hangs together: the largest set of its files, and of its folders, in which each uses all
/// others, directly or through more of them. A file of such a set is understood with the whole set only. Each limit may
/// only fall.
/// </summary>
public sealed class ComponentTests
{
    // A project that is not named here is small.
    private static readonly (int Files, int Folders) s_small = (8, 7);

    private static readonly Dictionary<string, (int Files, int Folders)> s_limits = new()
    {
        ["Tango"] = (9, 5),
        ["Corfu.Client"] = (7, 11),
        ["Corfu.Cli"] = (11, 6),
        ["Corfu.Protocol"] = (3, 4),
        ["Craq"] = (9, 3),
        ["Salus.Region"] = (10, 3),
    };

    public static TheoryData<string> Projects =>
    [
        .. Directory.EnumerateFiles(Repository.Projects("src"), "*.csproj", SearchOption.AllDirectories)
            .Select(file => Path.GetFileNameWithoutExtension(file)).Order(),
    ];

    [Theory]
    [MemberData(nameof(Projects))]
    public void Largest_component_of_a_project_only_falls(string project)
    {
        var folder = Path.GetRelativePath(Repository.Root, Repository.FolderOf("src", project));
        var graph = SourceGraph.OfProject(folder);
        var (files, folders) = (graph.LargestComponentOfFiles(), graph.LargestComponentOfFolders());
        var limits = s_limits.GetValueOrDefault(project, s_small);
        Assert.True(files.Count <= limits.Files && folders.Count <= limits.Folders,
            $"{files.Count} files and {folders.Count} folders use each other, {limits} may:\n"
            + string.Join('\n', files.Concat(folders)));

        // Two changes that land together need not agree on a limit.
        var slack = 2 + files.Count / 10;
        Assert.True(limits == s_small || limits.Files <= files.Count + slack && limits.Folders <= folders.Count + 2,
            $"{files.Count} files and {folders.Count} folders use each other where {limits} may: lower the limits.");
    }

    [Fact]
    public void Component_of_files_that_use_each_other_is_found()
    {
        var graph = Graph(
            ("x/A.cs", "class A { B? _b; }"),
            ("x/B.cs", "using A = int; namespace N.A; /* A */ class B { string S => \"A\"; C? _c; int _d = y.A; }"),
            ("y/C.cs", "[D] partial class C { }"),
            ("y/C.More.cs", "partial class C { A M() => new(); }"),
            ("y/D.cs", "class DAttribute : System.Attribute;"));
        Assert.Equal(["x/A.cs", "x/B.cs", "y/C.More.cs", "y/C.cs"], graph.LargestComponentOfFiles());
        Assert.Equal(["x", "y"], graph.LargestComponentOfFolders());
    }

    [Fact]
    public void Files_that_use_one_way_form_no_component()
    {
        var graph = Graph(("x/A.cs", "class A { B? _b; }"), ("y/B.cs", "class B;"), ("y/C.cs", "class C : A;"));
        Assert.Single(graph.LargestComponentOfFiles());
        Assert.Equal(["x", "y"], graph.LargestComponentOfFolders());
    }

    private static SourceGraph Graph(params (string File, string Source)[] files) =>
        SourceGraph.Of([.. files.Select(one => SourceCounts.Parse(one.Source, one.File))]);
}
