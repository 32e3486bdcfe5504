using System.Xml.Linq;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>A package (packaging/) holds assemblies of src that are used together, and names what they need.</summary>
public sealed class PackageTests
{
    // Loaded by a compiler or an editor: parts of the package Tango.
    private static readonly string[] s_analyzers = ["Tango.Generators", "Tango.Generators.CodeFixes"];

    // A tool brings all that it needs: the pages of the console and of nodes are in no package of their own.
    private static readonly string[] s_tool = ["Corfu.Cli", "Corfu.Console", "Corfu.Operations"];

    private static readonly string[] s_packages =
    [
        .. Directory.EnumerateDirectories(Repository.Projects("packaging")).Select(Path.GetFileName).Order()!,
    ];

    public static TheoryData<string> Packages => [.. s_packages];

    [Fact]
    public void Project_is_packed_once()
    {
        var projects = DependencyTests.ProjectNames.Select(name => (string)name)
            .Except(s_analyzers).Except(s_tool);
        Assert.Equal(projects.Order(), s_packages.SelectMany(ProjectsIn).Order());
    }

    [Theory]
    [MemberData(nameof(Packages))]
    public void Package_reference_of_a_packed_project_is_one_of_the_package(string package)
    {
        var needed = ProjectsIn(package).SelectMany(project => Shipped(SourceFile(project), "PackageReference"));
        Assert.Equal(needed.Distinct().Order(), Shipped(PackageFile(package), "PackageReference").Order());
    }

    [Theory]
    [MemberData(nameof(Packages))]
    public void Shared_framework_of_a_packed_project_is_one_of_the_package(string package)
    {
        var needed = ProjectsIn(package).SelectMany(project => Shipped(SourceFile(project), "FrameworkReference"));
        Assert.Equal(needed.Distinct(), Shipped(PackageFile(package), "FrameworkReference"));
    }

    [Theory]
    [MemberData(nameof(Packages))]
    public void Project_that_a_project_of_the_package_needs_comes_with_the_package(string package)
    {
        var needed = from project in ProjectsIn(package)
                     from reference in Referenced(SourceFile(project))
                     where !s_analyzers.Contains(reference)
                     select reference;
        Assert.Empty(needed.Except(Closure(package).SelectMany(ProjectsIn)));
    }

    private static HashSet<string> Closure(string package)
    {
        var seen = new HashSet<string> { package };
        var open = new Stack<string>([package]);
        while (open.TryPop(out var current))
        {
            foreach (var reference in Referenced(PackageFile(current)))
            {
                if (s_packages.Contains(reference) && seen.Add(reference)) open.Push(reference);
            }
        }

        return seen;
    }

    private static IEnumerable<string> ProjectsIn(string package) =>
        PackageFile(package).Descendants("Packed").Select(item => Path.GetFileName(item.Attribute("Include")!.Value));

    private static IEnumerable<string> Referenced(XDocument file) =>
        from reference in file.Descendants("ProjectReference")
        select Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value);

    private static IEnumerable<string> Shipped(XDocument file, string kind) =>
        from reference in file.Descendants(kind)
        where reference.Attribute("PrivateAssets")?.Value != "all"
        select reference.Attribute("Include")!.Value;

    private static XDocument PackageFile(string package) =>
        XDocument.Load(Path.Combine(Repository.Projects("packaging"), package, package + ".csproj"));

    private static XDocument SourceFile(string project) =>
        XDocument.Load(Path.Combine(Repository.FolderOf("src", project), project + ".csproj"));
}
