using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>
/// The agent's failure detection knows no log: detector, peers, probes, suspicions and the change budget work on any
/// role that says how it is probed (IWatchedRole), so that they can become a project below the log.
/// </summary>
public sealed class MembershipFolderTests
{
    private static readonly string[] s_folders = ["src/log/Corfu.Agent/Loop/", "src/log/Corfu.Agent/Membership/"];

    // The log's part of the wire.
    private static readonly string[] s_logFolders =
        ["/Entries/", "/Projections/", "/Messages/Layout/", "/Messages/Sequencer/", "/Messages/Unit/"];

    // Messages and counters of the whole agent, without a type of the log. They are divided when the folder moves.
    private static readonly string[] s_shared = ["AgentLog", "AgentTelemetry"];

    [Fact]
    public void Membership_uses_no_type_of_the_log()
    {
        var sources = Repository.Sources("src").Select(file => file.Replace('\\', '/')).ToList();
        var ofLog = sources.Where(IsOfTheLog).SelectMany(file => TypesIn(Parse(file))).Except(s_shared)
            .Concat(["LogPosition", "StreamId"]).ToHashSet();
        HashSet<string> some = ["Projection", "UnitInfoRequest", "ClusterClient", "PlannedChange"];
        Assert.Superset(some, ofLog);
        var found = from file in sources
                    where IsBelowTheLog(file)
                    from name in Parse(file).GetRoot().DescendantNodes().OfType<SimpleNameSyntax>()
                    where ofLog.Contains(name.Identifier.Text)
                    select $"{file}: {name}";
        Assert.Empty(found.Distinct());
    }

    [Fact]
    public void Membership_names_no_role_of_the_log()
    {
        var found = from file in Repository.Sources("src").Select(file => file.Replace('\\', '/'))
                    where IsBelowTheLog(file)
                    from access in Parse(file).GetRoot().DescendantNodes().OfType<MemberAccessExpressionSyntax>()
                    where access.ToString() is "NodeRole.Unit" or "NodeRole.Sequencer" or "NodeRole.Acceptor"
                    select $"{file}: {access}";
        Assert.Empty(found);
    }

    private static bool IsBelowTheLog(string file) =>
        s_folders.Any(folder => file.StartsWith(folder, StringComparison.Ordinal));

    private static bool IsOfTheLog(string file) =>
        file.StartsWith("src/log/", StringComparison.Ordinal) && !IsBelowTheLog(file)
        || s_logFolders.Any(folder => file.Contains(folder, StringComparison.Ordinal));

    // Nested types are named for their owner's readers alone.
    private static IEnumerable<string> TypesIn(SyntaxTree tree) =>
        from type in tree.GetRoot().DescendantNodes().OfType<BaseTypeDeclarationSyntax>()
        where type.Parent is not TypeDeclarationSyntax
        select type.Identifier.Text;

    private static SyntaxTree Parse(string file) =>
        SourceCounts.Parse(File.ReadAllText(Path.Combine(Repository.Root, file)), file);
}
