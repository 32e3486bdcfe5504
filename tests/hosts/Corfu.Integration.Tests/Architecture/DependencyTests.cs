using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text.Json;
using System.Xml.Linq;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>Dependencies point one way (docs/architecture.md): what a project may reference, in its project file and in
/// its assembly.</summary>
public sealed class DependencyTests
{
    private static readonly string[] UnderTango =
        ["Tango.Generators", "Tango.Generators.CodeFixes", "Corfu.Client", "Corfu.Transport", "Corfu.Protocol"];

    // Per project everything it may see, transitively: a breach through a third project is a breach.
    private static readonly Dictionary<string, string[]> Allowed = new()
    {
        ["Corfu.Protocol"] = [],
        ["Corfu.Storage"] = ["Corfu.Protocol"],
        ["Corfu.Transport"] = ["Corfu.Protocol"],
        ["Corfu.Server"] = ["Corfu.Transport", "Corfu.Protocol"],
        ["Corfu.Unit"] = ["Corfu.Storage", "Corfu.Transport", "Corfu.Protocol"],
        ["Corfu.Sequencer"] = ["Corfu.Transport", "Corfu.Protocol"],
        ["Corfu.Layout"] = ["Corfu.Storage", "Corfu.Transport", "Corfu.Protocol"],
        ["Corfu.Client"] = ["Corfu.Transport", "Corfu.Protocol"],
        ["Corfu.Agent"] = ["Corfu.Client", "Corfu.Transport", "Corfu.Protocol"],
        ["Corfu.Backup"] = ["Corfu.Storage", "Corfu.Client", "Corfu.Transport", "Corfu.Protocol"],
        ["Tango"] = [.. UnderTango],
        ["Tango.Generators"] = [],
        ["Tango.Generators.CodeFixes"] = [],
        ["Tango.Collections"] = ["Tango", .. UnderTango],
        ["Tango.Testing"] = ["Tango", .. UnderTango],
        ["Corfu.Extensions"] = ["Tango", .. UnderTango],
        ["Corfu.Hosting"] =
        [
            "Corfu.Server", "Corfu.Unit", "Corfu.Sequencer", "Corfu.Layout", "Corfu.Agent", "Corfu.Client",
            "Corfu.Storage", "Corfu.Transport", "Corfu.Protocol",
        ],
        ["Corfu.Grpc.Protocol"] = [],
        ["Corfu.Grpc.Client"] = ["Corfu.Grpc.Protocol", "Corfu.Client", "Corfu.Transport", "Corfu.Protocol"],
        ["Corfu.Grpc"] =
            ["Corfu.Grpc.Protocol", "Corfu.Agent", "Corfu.Extensions", "Tango.Collections", "Tango", .. UnderTango],
        ["Corfu.Orleans"] = ["Corfu.Extensions", "Tango.Collections", "Tango", .. UnderTango],
        ["Corfu.Orleans.Journaling"] =
            ["Corfu.Orleans", "Corfu.Extensions", "Tango.Collections", "Tango", .. UnderTango],
        ["Corfu.Cli"] =
        [
            "Corfu.Hosting", "Corfu.Extensions", "Corfu.Agent", "Corfu.Backup", "Corfu.Server", "Corfu.Storage",
            "Corfu.Unit", "Corfu.Sequencer", "Corfu.Layout", "Corfu.Grpc", "Corfu.Grpc.Protocol", "Tango.Collections",
            "Tango", .. UnderTango,
        ],
    };

    private const string AspNetCore = "Microsoft.AspNetCore.App";

    private static readonly string[] Pure =
        ["Corfu.Protocol", "Corfu.Storage", "Corfu.Unit", "Corfu.Sequencer", "Corfu.Layout", "Corfu.Client",
            "Corfu.Agent", "Corfu.Backup", "Tango", "Tango.Collections", "Tango.Testing"];

    // Tango 3: the runtime knows the log and streams; where a position is stored and who stores it is none of its
    // business.
    private static readonly string[] HiddenFromTango =
        ["Projection", "ProjectionCodec", "Segment", "Chain", "Replica", "NodeAddress", "NodeEndpoint", "NodeId",
            "Request", "Response", "MessageCodec"];

    public static TheoryData<string> ProjectNames => [.. Allowed.Keys];

    [Fact]
    public void Every_source_project_has_a_rule()
    {
        var projects = Directory.EnumerateFiles(Repository.Projects("src"), "*.csproj", SearchOption.AllDirectories)
            .Select(Path.GetFileNameWithoutExtension)
            .Order();
        Assert.Equal(Allowed.Keys.Order(), projects);
    }

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Project_references_keep_the_direction(string project)
    {
        var seen = Closure(project);
        Assert.Empty(seen.Except(Allowed[project]));
    }

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Assembly_references_keep_the_direction(string project)
    {
        // Generators are loaded by the compiler or an editor, and never deployed.
        if (project.StartsWith("Tango.Generators", StringComparison.Ordinal)) return;
        using var assembly = OpenAssembly(project);
        var metadata = assembly.GetMetadataReader();
        var references =
            metadata.AssemblyReferences.Select(
                handle => metadata.GetString(metadata.GetAssemblyReference(handle).Name));
        var own = references.Where(name => Allowed.ContainsKey(name) || name == "corfu");
        Assert.Empty(own.Except(Allowed[project]));
    }

    [Theory]
    [InlineData("Tango")]
    [InlineData("Tango.Collections")]
    public void Tango_sees_neither_projections_nor_sockets(string project)
    {
        using var assembly = OpenAssembly(project);
        var metadata = assembly.GetMetadataReader();
        foreach (var handle in metadata.TypeReferences)
        {
            var type = metadata.GetTypeReference(handle);
            var name = metadata.GetString(type.Name);
            var space = metadata.GetString(type.Namespace);
            Assert.False(space.StartsWith("Corfu.Transport", StringComparison.Ordinal),
                $"{project} uses {space}.{name}.");
            Assert.False(space.StartsWith("System.Net", StringComparison.Ordinal), $"{project} uses {space}.{name}.");
            Assert.False(space == "Corfu.Protocol" && HiddenFromTango.Contains(name),
                $"{project} uses {space}.{name}.");
            Assert.False(space == "Corfu.Client" && name == "CorfuClient",
                $"{project} uses the client itself instead of ICorfuLog.");
        }
    }

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Pure_projects_ban_clocks_threads_and_randomness(string project)
    {
        var pure = ProjectFile(project).Descendants("CorfuPure").Any(element => element.Value == "true");
        Assert.Equal(Pure.Contains(project), pure);
    }

    /// <summary>A client needs the plain runtime: only a process that serves roles, or hosts them, brings ASP.NET
    /// along.</summary>
    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Only_servers_need_AspNetCore(string project)
    {
        var needs = Closure(project).Append(project)
            .Any(name => ProjectFile(name).Descendants("FrameworkReference")
                .Any(element => element.Attribute("Include")!.Value == AspNetCore));
        Assert.Equal(project is "Corfu.Server" or "Corfu.Hosting" or "Corfu.Grpc" or "Corfu.Cli", needs);
    }

    [Fact]
    public async Task A_console_client_runs_on_the_plain_runtime()
    {
        var file = Path.ChangeExtension(ConsoleClient.Program, ".runtimeconfig.json");
        using var config = JsonDocument.Parse(await File.ReadAllTextAsync(file));
        var options = config.RootElement.GetProperty("runtimeOptions");
        Assert.False(options.TryGetProperty("frameworks", out _));
        Assert.Equal("Microsoft.NETCore.App", options.GetProperty("framework").GetProperty("name").GetString());

        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        var result = await ConsoleClient.RunAsync(cluster.ConnectionString, "from a console");
        Assert.EndsWith("from a console", result.Require().Lines.Single());
    }

    [Fact]
    public void Internals_are_open_to_tests_and_benches_only()
    {
        foreach (var file in Repository.Sources("src"))
            Assert.False(File.ReadAllText(Path.Combine(Repository.Root, file))
                .Contains("InternalsVisibleTo(", StringComparison.Ordinal), file);
        foreach (var project in Allowed.Keys)
        {
            foreach (var friend in ProjectFile(project).Descendants("InternalsVisibleTo"))
                Assert.True(
                    Directory.Exists(Repository.FolderOf("tests", (string)friend.Attribute("Include")!))
                    || Directory.Exists(Repository.FolderOf("bench", (string)friend.Attribute("Include")!)));
        }
    }

    private static HashSet<string> Closure(string project)
    {
        var seen = new HashSet<string>();
        var open = new Stack<string>([project]);
        while (open.TryPop(out var current))
        {
            foreach (var reference in ProjectFile(current).Descendants("ProjectReference"))
            {
                var name = Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value.Replace('\\', '/'));
                if (seen.Add(name)) open.Push(name);
            }
        }

        return seen;
    }

    private static XDocument ProjectFile(string project) =>
        XDocument.Load(Path.Combine(Repository.FolderOf("src", project), project + ".csproj"));

    // The tests' own output folder holds every assembly of the product, built in the same configuration.
    private static PEReader OpenAssembly(string project)
    {
        var file = project == "Corfu.Cli" ? "corfu" : project;
        return new PEReader(File.OpenRead(Path.Combine(AppContext.BaseDirectory, file + ".dll")));
    }
}
