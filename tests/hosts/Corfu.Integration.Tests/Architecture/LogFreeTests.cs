using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>
/// Base projects that any store can stand on name nothing of the log, neither a type of its part of the wire nor one of
/// its roles. References do not show that: Corfu.Protocol holds the messages of all roles.
/// </summary>
public sealed class LogFreeTests
{
    private static readonly string[] s_projects = ["src/base/Corfu.Detection/", "src/base/Corfu.Register/"];

    // The log's part of the wire.
    private static readonly string[] s_logFolders =
        ["/Entries/", "/Projections/", "/Messages/Layout/", "/Messages/Sequencer/", "/Messages/Unit/"];

    // A type that the layout's messages share with every register.
    private static readonly string[] s_ofRegisters = ["Ballot"];

    private static readonly string[] s_sources =
        [.. Repository.Sources("src").Select(file => file.Replace('\\', '/'))];

    [Fact]
    public void Project_uses_no_type_of_the_log()
    {
        var ofLog = s_sources.Where(IsOfTheLog).SelectMany(file => TypesIn(Parse(file)))
            .Concat(["LogPosition", "StreamId"]).Except(s_ofRegisters).ToHashSet();
        HashSet<string> some = ["Projection", "UnitInfoRequest", "SlotState"];
        Assert.Superset(some, ofLog);
        var found = from file in s_sources
                    where IsBelowTheLog(file)
                    from name in Parse(file).GetRoot().DescendantNodes().OfType<SimpleNameSyntax>()
                    where ofLog.Contains(name.Identifier.Text)
                    select $"{file}: {name}";
        Assert.Empty(found.Distinct());
    }

    [Fact]
    public void Project_names_no_role_of_the_log()
    {
        var found = from file in s_sources
                    where IsBelowTheLog(file)
                    from access in Parse(file).GetRoot().DescendantNodes().OfType<MemberAccessExpressionSyntax>()
                    where access.ToString() is "NodeRole.Unit" or "NodeRole.Sequencer" or "NodeRole.Acceptor"
                    select $"{file}: {access}";
        Assert.Empty(found);
    }

    [Fact]
    public void Project_that_is_checked_exists() =>
        Assert.All(s_projects, project => Assert.Contains(
            s_sources, file => file.StartsWith(project, StringComparison.Ordinal)));

    private static bool IsBelowTheLog(string file) =>
        s_projects.Any(project => file.StartsWith(project, StringComparison.Ordinal));

    private static bool IsOfTheLog(string file) =>
        file.StartsWith("src/base/Corfu.Protocol/", StringComparison.Ordinal)
        && s_logFolders.Any(folder => file.Contains(folder, StringComparison.Ordinal));

    // Nested types are named for their owner's readers alone.
    private static IEnumerable<string> TypesIn(SyntaxTree tree) =>
        from type in tree.GetRoot().DescendantNodes().OfType<BaseTypeDeclarationSyntax>()
        where type.Parent is not TypeDeclarationSyntax
        select type.Identifier.Text;

    private static SyntaxTree Parse(string file) =>
        SourceCounts.Parse(Repository.Read(file), file);
}
