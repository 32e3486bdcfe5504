using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text.Json;
using System.Xml.Linq;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>Dependencies point down (docs/architecture.md): what a project may reference, in its project file and in
/// its assembly.</summary>
public sealed class DependencyTests
{
    // Floor by floor, each from its lowest step up. Projects of one step do not see each other.
    private static readonly Dictionary<string, string[][]> Floors = new()
    {
        ["base"] =
        [
            ["Corfu.Abstractions"], ["Corfu.Protocol", "Corfu.Storage"], ["Corfu.Register", "Corfu.Transport"],
            ["Corfu.Detection", "Corfu.Server"],
        ],
        ["log"] = [["Corfu.Client", "Corfu.Layout", "Corfu.Sequencer", "Corfu.Unit"], ["Corfu.Agent", "Corfu.Backup"]],
        ["tango"] =
        [
            ["Tango.Generators", "Tango.Generators.CodeFixes"], ["Tango"], ["Tango.Collections", "Tango.Testing"],
        ],
        ["services"] = [["Corfu.StateMachines", "Corfu.Store", "Tango.Ledgers", "Tango.ZooKeeper"]],
        ["stores"] =
        [
            ["Craq.Protocol", "Salus.Protocol"], ["Salus.Coordination"],
            ["Craq", "Craq.Client", "Salus.Client", "Salus.Store"], ["Salus.Nbd", "Salus.Region"],
        ],
        ["hosts"] =
        [
            ["Corfu.Extensions", "Corfu.Grpc.Protocol", "Corfu.Hosting"],
            ["Corfu.Console", "Corfu.Etcd", "Corfu.Grpc", "Corfu.Grpc.Client", "Corfu.Operations", "Corfu.Orleans",
                "Corfu.ZooKeeper", "Craq.Hosting", "Salus.Hosting"],
            ["Corfu.Orleans.Journaling"],
            ["Corfu.Cli"],
        ],
    };

    // The floors that each floor stands on. Log and Tango do not see each other.
    private static readonly Dictionary<string, string[]> Below = new()
    {
        ["base"] = [],
        ["log"] = ["base"],
        ["tango"] = ["base"],
        ["services"] = ["base", "tango"],
        ["stores"] = ["base", "tango"],
        ["hosts"] = ["base", "log", "tango", "services", "stores"],
    };

    private const string AspNetCore = "Microsoft.AspNetCore.App";

    private static readonly string[] Pure =
        ["Corfu.Abstractions", "Corfu.Protocol", "Corfu.Storage", "Corfu.Register", "Corfu.Detection", "Corfu.Unit",
            "Corfu.Sequencer", "Corfu.Layout", "Corfu.Client", "Corfu.Agent", "Corfu.Backup", "Tango",
            "Tango.Collections", "Tango.Testing", "Craq.Protocol", "Craq", "Craq.Client", "Salus.Protocol",
            "Salus.Coordination", "Salus.Store", "Salus.Client", "Salus.Region", "Tango.Ledgers", "Tango.ZooKeeper",
            "Corfu.StateMachines", "Corfu.Store"];

    // The only way to a node of CRAQ is the role that its host serves.
    private static readonly HashSet<(string Project, string Friend)> s_friends =
        [("Craq", "Craq.Hosting"), ("Craq.Client", "Craq.Hosting")];

    public static TheoryData<string> ProjectNames =>
        [.. Floors.Values.SelectMany(steps => steps).SelectMany(step => step)];

    [Fact]
    public void Source_project_stands_in_the_folder_of_the_floor_that_lists_the_project()
    {
        var found = from file in Directory.EnumerateFiles(
                        Repository.Projects("src"), "*.csproj", SearchOption.AllDirectories)
                    let folders = Path.GetRelativePath(Repository.Root, file).Split(Path.DirectorySeparatorChar)
                    select (folders[1], folders[2]);
        var named = from floor in Floors from step in floor.Value from project in step select (floor.Key, project);
        Assert.Equal(named.Order(), found.Order());
    }

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Project_references_point_down(string project) =>
        Assert.Empty(Closure(project).Except(BelowOf(project)));

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Assembly_references_point_down(string project)
    {
        // Generators are loaded by the compiler or an editor, and never deployed.
        if (project.StartsWith("Tango.Generators", StringComparison.Ordinal)) return;
        using var assembly = OpenAssembly(project);
        var metadata = assembly.GetMetadataReader();
        var references =
            metadata.AssemblyReferences.Select(
                handle => metadata.GetString(metadata.GetAssemblyReference(handle).Name));
        var own = references.Where(name => ProjectNames.Any(known => (string)known == name) || name == "corfu");
        Assert.Empty(own.Except(BelowOf(project)));
    }

    /// <summary>Tango 3: the runtime knows the log and its streams. Where a position is stored is not its
    /// business.</summary>
    [Fact]
    public void Tango_sees_the_abstractions_of_the_log_and_no_socket()
    {
        foreach (var project in Floors["tango"].SelectMany(step => step))
            Assert.Empty(Closure(project).Except([.. Floors["tango"].SelectMany(step => step), "Corfu.Abstractions"]));
        foreach (var project in (string[])["Corfu.Abstractions", "Tango", "Tango.Collections"])
        {
            using var assembly = OpenAssembly(project);
            var metadata = assembly.GetMetadataReader();
            foreach (var handle in metadata.TypeReferences)
            {
                var type = metadata.GetTypeReference(handle);
                var space = metadata.GetString(type.Namespace);
                Assert.False(space.StartsWith("System.Net", StringComparison.Ordinal),
                    $"{project} uses {space}.{metadata.GetString(type.Name)}.");
            }
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
        Assert.Equal(
            project is "Corfu.Server" or "Corfu.Hosting" or "Corfu.Console" or "Corfu.Grpc" or "Corfu.Operations"
                or "Corfu.Cli" or "Corfu.Etcd" or "Corfu.ZooKeeper" or "Craq.Hosting" or "Salus.Hosting"
                or "Salus.Nbd", needs);
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
        foreach (string project in ProjectNames)
        {
            foreach (var friend in ProjectFile(project).Descendants("InternalsVisibleTo"))
            {
                var name = (string)friend.Attribute("Include")!;
                Assert.True(s_friends.Contains((project, name))
                    || Directory.Exists(Repository.FolderOf("tests", name))
                    || Directory.Exists(Repository.FolderOf("bench", name)), $"{project} is open to {name}.");
            }
        }
    }

    // All that a project may see: lower floors whole, and lower steps of its own.
    private static IEnumerable<string> BelowOf(string project)
    {
        var (floor, steps) = Floors.Single(floor => floor.Value.Any(step => step.Contains(project)));
        var own = steps.TakeWhile(step => !step.Contains(project));
        return Below[floor].SelectMany(lower => Floors[lower]).Concat(own).SelectMany(step => step);
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
