using System.Text.Json;
using Corfu.Backup;
using Corfu.Cli;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Doctor;

/// <summary>The doctor on clusters that run.</summary>
public sealed class DoctorRunTests
{
    [Fact]
    public async Task Sound_cluster_of_processes_has_no_fault_until_a_node_is_killed()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "needs signals");
        await using var cluster = await ClusterProcesses.UpAsync("--spares", "1", "--sequencers", "2");
        var sound = (await CorfuTool.RunAsync("doctor", "--connect", cluster.ConnectionString)).Require();
        Assert.Equal("faults=0", sound.Lines[^1]);

        var local = await CorfuTool.RunAsync("doctor", "--dir", cluster.Folder, "--json");
        using var json = JsonDocument.Parse(local.Output);
        var findings = json.RootElement.GetProperty("findings").EnumerateArray()
            .Select(finding => (Check: finding.GetProperty("check").GetString()!,
                Level: finding.GetProperty("level").GetString()!)).ToList();
        Assert.Contains(findings, finding => finding.Check == "disk-sync" && finding.Level != "Unseen");
        // A busy machine syncs slowly: no other fault is there.
        Assert.DoesNotContain(findings, finding => finding.Level == "Fault" && finding.Check != "disk-sync");

        await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["spare-0"]);
        var cut = await CorfuTool.RunAsync("doctor", "--connect", cluster.ConnectionString);
        Assert.Equal(1, cut.ExitCode);
        Assert.Matches(@"^faults=[1-9].* ports\(127\.0\.0\.1:\d+\)", cut.Lines[^1]);
    }

    [Fact]
    public async Task Cluster_that_does_not_answer_is_a_fault()
    {
        var address = TestPorts.Endpoint();
        var result = await CorfuTool.RunAsync("doctor", "--connect", $"corfu://{address}");
        Assert.Equal(1, result.ExitCode);
        Assert.Equal($"faults=1 cluster(corfu://{address})", result.Lines[^1]);
    }

    [Fact]
    public async Task Small_disk_that_is_full_is_named_by_folder()
    {
        using var nodes = new LocalNodes();
        using var disk = SmallDisk.TryMount(nodes.PathOf("small"), 8);
        Assert.SkipWhen(disk is null, "needs root, to mount a tmpfs");
        Directory.CreateDirectory(nodes.PathOf("small/unit"));
        new NodeConfig("small", Guid.NewGuid(), TestPorts.Address(), false, null,
            [new NodeConfigRole("Unit", Guid.NewGuid(), "unit")]).Save(nodes.PathOf("small/node.json"));
        var left = (int)new DriveInfo(nodes.PathOf("small")).AvailableFreeSpace;
        await File.WriteAllBytesAsync(Path.Combine(nodes.PathOf("small"), "ballast"), new byte[left - (256 << 10)]);

        var result = await CorfuTool.RunAsync("doctor", "--dir", nodes.PathOf("small"));

        Assert.Equal(1, result.ExitCode);
        Assert.StartsWith("faults=2 disk-kind(", result.Lines[^1], StringComparison.Ordinal);
        Assert.Contains(" disk-space(", result.Lines[^1], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Configuration_that_is_not_valid_is_a_fault()
    {
        using var folder = new TempFolder();
        await File.WriteAllTextAsync(folder.File("node.json"), "{ \"name\": 7 }");
        var result = await CorfuTool.RunAsync("doctor", "--dir", folder.Path);
        Assert.Equal(1, result.ExitCode);
        Assert.Equal($"faults=1 configuration({folder.Path})", result.Lines[^1]);
    }

    [Theory]
    [InlineData(1, 1, FindingLevel.Ok, FindingLevel.Ok)]
    [InlineData(27, 1, FindingLevel.Fault, FindingLevel.Ok)]
    [InlineData(1, 36 * 24, FindingLevel.Ok, FindingLevel.Fault)]
    [InlineData(1, null, FindingLevel.Ok, FindingLevel.Advice)]
    public void Age_of_a_backup_and_of_the_last_drill_is_judged(int hours, int? drillHours, object backup, object drill)
    {
        using var folder = new TempFolder();
        var (now, cluster) = (DoctorFacts.Now, new ClusterId(Guid.NewGuid()));
        var manifest = BackupManifest.Empty(cluster) with { Written = now.AddHours(-hours) };
        File.WriteAllBytes(folder.File(BackupManifest.FileName), manifest.Encode());
        if (drillHours is { } ago) new DrillRecord(now.AddHours(-ago), 0).Write(folder.Path);
        var findings = BackupChecks.Of(folder.Path, cluster, now).ToList();
        Assert.Equal([backup, drill], findings.Select(finding => (object)finding.Level));
        var other = BackupChecks.Of(folder.Path, new ClusterId(Guid.NewGuid()), now).First();
        Assert.Equal(FindingLevel.Fault, other.Level);
    }

    [Fact]
    public void Folder_without_a_backup_is_a_fault_and_no_folder_is_unseen()
    {
        using var folder = new TempFolder();
        Assert.Equal(FindingLevel.Fault, Assert.Single(BackupChecks.Of(folder.Path, null, DoctorFacts.Now)).Level);
        Assert.Equal(FindingLevel.Unseen, Assert.Single(BackupChecks.Of(null, null, DoctorFacts.Now)).Level);
    }

    [Fact]
    public void Format_of_a_later_build_is_unread()
    {
        using var folder = new TempFolder();
        Directory.CreateDirectory(folder.File("unit"));
        var options = new NodeOptions();
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Unit, Folder = folder.File("unit") });
        var node = new NodeFolder(folder.Path, options, false);
        File.WriteAllText(folder.File("unit/identity.json"), """{ "format": 1, "later": true }""");
        Assert.Empty(node.UnreadFormats());
        File.WriteAllText(folder.File("unit/identity.json"), """{ "format": 99 }""");
        Assert.Contains("has format 99", Assert.Single(node.UnreadFormats()), StringComparison.Ordinal);
    }
}
