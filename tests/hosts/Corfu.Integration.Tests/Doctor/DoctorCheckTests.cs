using System.Collections.Immutable;
using Corfu.Cli;
using Corfu.Hosting;
using Corfu.Protocol;
using static Corfu.Integration.Tests.Doctor.DoctorFacts;

namespace Corfu.Integration.Tests.Doctor;

/// <summary>Each test plants a fault into the facts of a sound cluster; the doctor names that and no other.</summary>
public sealed class DoctorCheckTests
{
    private const string Cluster = "cluster";
    private const string First = "n1 (10.0.0.1:7000)";

    [Fact]
    public void Sound_cluster_has_no_fault_and_no_advice()
    {
        var findings = Findings(Sound());
        Assert.All(findings, finding => Assert.Equal(FindingLevel.Ok, finding.Level));
        Assert.Equal(
            [
                "acceptor-hosts", "acceptors", "automation", "certificates", "chain-hosts", "clock", "deny-list",
                "disk-fills", "disk-kind", "disk-space", "inodes", "memory", "open-files", "ports", "spares", "standby",
                "swap", "tls", "trust", "verdict", "versions",
            ],
            findings.Select(finding => finding.Check).Distinct().Order());
    }

    public static TheoryData<string, string, string> Planted => new()
    {
        { "down", "verdict", Cluster },
        { "no-spare-left", "spares", Cluster },
        { "no-standby", "standby", Cluster },
        { "one-acceptor", "acceptors", Cluster },
        { "acceptors-on-one-host", "acceptor-hosts", Cluster },
        { "chain-on-one-host", "chain-hosts", Cluster },
        { "silent", "ports", "10.0.0.1:7000" },
        { "unreachable-port", "ports", First },
        { "skewed-clock", "clock", First },
        { "mixed-for-days", "versions", Cluster },
        { "full-disk", "disk-space", $"{First} /data" },
        { "tmpfs", "disk-kind", $"{First} /data" },
        { "no-inodes", "inodes", $"{First} /data" },
        { "fills-today", "disk-fills", First },
        { "open-files", "open-files", First },
        { "memory", "memory", First },
        { "insecure", "tls", First },
        { "expired", "certificates", $"{First} corfu://c/node/n1" },
        { "not-yet-valid", "certificates", $"{First} corfu://c/node/n1" },
        { "expires-tomorrow", "certificates", $"{First} corfu://c/node/n1" },
        { "trust-differs", "trust", Cluster },
    };

    [Theory]
    [MemberData(nameof(Planted))]
    public void Planted_fault_is_named_alone(string planted, string check, string subject)
    {
        var fault = Assert.Single(Findings(FactsOf(planted)), finding => finding.Level == FindingLevel.Fault);
        Assert.Equal((check, subject), (fault.Check, fault.Subject));
    }

    public static TheoryData<string, string> Advised => new()
    {
        { "no-spare", "spares" }, { "automation-off", "automation" }, { "clock-200ms", "clock" },
        { "mixed-today", "versions" }, { "overlay", "disk-kind" }, { "nfs", "disk-kind" }, { "both", "tls" },
        { "last-third", "certificates" }, { "swapped", "swap" }, { "low-file-limit", "open-files" },
        { "nearly-full", "disk-space" }, { "denied-here-alone", "deny-list" }, { "warning", "warning" },
        { "degraded", "verdict" },
    };

    [Theory]
    [MemberData(nameof(Advised))]
    public void Planted_weakness_is_advice_and_no_fault(string planted, string check)
    {
        var found = Assert.Single(Findings(FactsOf(planted)), finding => finding.Level != FindingLevel.Ok);
        Assert.Equal((FindingLevel.Advice, check), (found.Level, found.Check));
    }

    [Fact]
    public void Process_that_does_not_describe_itself_is_unseen_and_no_fault()
    {
        var facts = Sound();
        facts = facts with
        {
            Members = facts.Members.SetItem(0, facts.Members[0] with { Process = null, Unreported = "older" }),
        };
        var unseen = Assert.Single(Findings(facts), finding => finding.Level != FindingLevel.Ok);
        Assert.Equal((FindingLevel.Unseen, "process"), (unseen.Level, unseen.Check));
    }

    [Theory]
    [InlineData(5, 0.5, FindingLevel.Ok)]
    [InlineData(20, 0.5, FindingLevel.Advice)]
    [InlineData(100, 0.5, FindingLevel.Fault)]
    [InlineData(1, 0.005, FindingLevel.Advice)]
    public void Sync_times_of_a_disk_are_judged(double p99, double median, object level)
    {
        using var folder = new Support.TempFolder();
        var disks = new Measure(new SyncTimes(TimeSpan.FromMilliseconds(median), TimeSpan.FromMilliseconds(p99)));
        var node = new NodeFolder(folder.Path, new NodeOptions(), IsRunning: true);
        var sync = Assert.Single(new FolderChecks(disks).Of(node), finding => finding.Check == "disk-sync");
        Assert.Equal(level, (object)sync.Level);
    }

    [Fact]
    public void Folder_in_memory_is_a_fault()
    {
        using var folder = new Support.TempFolder();
        var disks = new Measure(default) { FileSystem = "tmpfs" };
        var node = new NodeFolder(folder.Path, new NodeOptions(), IsRunning: true);
        var fault = Assert.Single(new FolderChecks(disks).Of(node), finding => finding.Level == FindingLevel.Fault);
        Assert.Equal("disk-kind", fault.Check);
    }

    [Fact]
    public void Upgrade_waits_for_a_rebuild_and_a_backup()
    {
        var facts = Sound();
        var joining = facts.Projection!.Segments[0] with
        {
            Chains = [new Chain([new Replica(Node(1, 1).Id), new Replica(Node(2, 2).Id, Joining: true)])],
        };
        var projection = new Projection(facts.Projection.Cluster, new Epoch(4), Node(1, 90), new LogPosition(9),
            LogPosition.Zero, [joining with { Until = new LogPosition(9) }, facts.Projection.Segments[0] with
            {
                From = new LogPosition(9),
            }], facts.Projection.Units, facts.Projection.Acceptors, "a test");
        var texts = UpgradeChecks.Of(facts with { Projection = projection }, [], [])
            .Where(finding => finding.Level == FindingLevel.Fault).Select(finding => finding.Text).ToList();
        Assert.Equal(2, texts.Count);
        Assert.StartsWith("being rebuilt: 10.0.0.2:7000", texts[0], StringComparison.Ordinal);
        Assert.StartsWith("no fresh backup", texts[1], StringComparison.Ordinal);
        var backup = Finding.Ok("backup", "/backup", "of today");
        Assert.DoesNotContain(UpgradeChecks.Of(facts, [], [backup]), finding => finding.Level == FindingLevel.Fault);
    }

    [Fact]
    public void Upgrade_over_versions_that_do_not_meet_is_a_fault()
    {
        var facts = With(process => process with { LowestProtocol = 900, HighestProtocol = 901 });
        var fault = Assert.Single(UpgradeChecks.Of(facts, [], [Finding.Ok("backup", "", "")]),
            finding => finding.Level == FindingLevel.Fault);
        Assert.Equal(First, fault.Subject);
    }

    [Fact]
    public async Task Report_groups_sound_findings_and_ends_with_the_faults()
    {
        using var output = new StringWriter();
        await DoctorCommand.WriteAsync(output,
            [
                Finding.Fault("disk-space", "a\u001b[2J /data", "full"), Finding.Ok("clock", "a", "x"),
                Finding.Ok("clock", "b", "y"), Finding.Advice("spares", "cluster", "none"),
            ], json: false);
        var lines = output.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(5, lines.Length);
        Assert.Matches("^ok +clock +a and 1 more +x$", lines[1]);
        Assert.Matches("^advice +spares", lines[2]);
        Assert.Matches("^FAULT +disk-space", lines[3]);
        Assert.Equal(@"faults=1 disk-space(a\u001b[2J /data)", lines[4]);
    }

    private static ImmutableArray<Finding> Findings(ClusterFacts facts) =>
        [.. ClusterChecks.Of(facts), .. ProcessChecks.Of(facts)];

    private static ClusterFacts FactsOf(string planted)
    {
        var sound = Sound();
        ImmutableArray<NodeReport> Waiting(NodeDuty duty) => [.. sound.Nodes.Where(node => node.Duty == duty)];
        return planted switch
        {
            "down" => sound with { Verdict = new ClusterVerdict(false, ["the sequencer does not answer"]) },
            "degraded" => sound with { Verdict = new ClusterVerdict(true, ["being rebuilt"]) },
            "no-spare" => sound with { Nodes = Waiting(NodeDuty.Standby) },
            "no-spare-left" => sound with
            {
                Nodes = Waiting(NodeDuty.Standby),
                Projection = Projection([1, 2, 3], [[1, 2], [2, 1]]),
            },
            "no-standby" => sound with { Nodes = Waiting(NodeDuty.Spare) },
            "one-acceptor" => sound with { Projection = Projection([1], [[1, 2], [2, 3], [3, 1]]) },
            "acceptors-on-one-host" => sound with { Projection = Projection([1, 1, 3], [[1, 2], [2, 3], [3, 1]]) },
            "chain-on-one-host" => sound with { Projection = Projection([1, 2, 3], [[1, 2], [3]]) },
            "automation-off" => sound with { IsAutomatic = false },
            "silent" => sound with
            {
                Members = sound.Members.SetItem(0, new MemberFacts(Node(1, 1).Endpoint) { Silence = "refused" }),
            },
            "unreachable-port" => sound with
            {
                Reach = [new ReachFact(Node(1, 1).Endpoint, Node(2, 2).Endpoint, false, "silent")],
            },
            "skewed-clock" => Skewed(sound, TimeSpan.FromSeconds(5)),
            "clock-200ms" => Skewed(sound, TimeSpan.FromMilliseconds(200)),
            _ => ProcessOf(planted),
        };
    }

    private static ClusterFacts Skewed(ClusterFacts sound, TimeSpan offset) => sound with
    {
        Members = sound.Members.SetItem(0, sound.Members[0] with
        {
            ClockOffset = offset,
            ClockError = TimeSpan.FromMilliseconds(1),
        }),
    };

    private static ClusterFacts ProcessOf(string planted) => planted switch
    {
        "mixed-for-days" => With(process => process with { Build = "1.1.0", Started = Now.AddDays(-2) }),
        "mixed-today" => With(process => process with { Build = "1.1.0", Started = Now.AddHours(-1) }),
        "full-disk" => WithDisk(disk => disk with { Free = 100 << 20 }),
        "nearly-full" => WithDisk(disk => disk with { Free = 5L << 30 }),
        "tmpfs" => WithDisk(disk => disk with { FileSystem = "tmpfs" }),
        "overlay" => WithDisk(disk => disk with { FileSystem = "overlayfs" }),
        "nfs" => WithDisk(disk => disk with { FileSystem = "nfs" }),
        "no-inodes" => WithDisk(disk => disk with { FreeInodes = 10 }),
        "fills-today" => FillsToday(),
        "open-files" => With(process => process with { OpenFiles = 60_000 }),
        "low-file-limit" => With(process => process with { OpenFileLimit = 1024 }),
        "memory" => With(process => process with { Memory = 15L << 29 }),
        "swapped" => With(process => process with { Swapped = 1 << 30 }),
        "warning" => With(process => process with { Warnings = ["The audit file cannot be written"] }),
        "denied-here-alone" => With(process => process with { DeniedCertificates = 1, DeniedDigest = 7 }),
        "insecure" => With(process => process with { Tls = TlsMode.Off, IsInsecure = true }),
        "both" => With(process => process with { Tls = TlsMode.Both }),
        "expired" => Dated(-90, -1),
        "not-yet-valid" => Dated(1, 90),
        "expires-tomorrow" => Dated(-89, 1),
        "last-third" => Dated(-70, 20),
        "trust-differs" => With(process => process with
        {
            Certificates = [process.Certificates[0], process.Certificates[1] with { Fingerprint = "CD" }],
        }),
        _ => throw new ArgumentException(planted),
    };

    private static ClusterFacts FillsToday()
    {
        var facts = Sound();
        // The log grows by its own size a day, and this unit holds more than is free.
        return facts with
        {
            Growth = new LogGrowth(10_000, 10_000),
            Members = facts.Members.SetItem(0, facts.Members[0] with { StoredBytes = 1L << 40 }),
        };
    }

    private static ClusterFacts Dated(int notBefore, int notAfter) => With(process => process with
    {
        Certificates =
        [
            process.Certificates[0] with { NotBefore = Now.AddDays(notBefore), NotAfter = Now.AddDays(notAfter) },
            process.Certificates[1],
        ],
    });

    private sealed class Measure(SyncTimes times) : IDiskMeasure
    {
        public string FileSystem { get; init; } = "ext4";

        public DiskReport Describe(string folder) => new(folder, FileSystem, 1L << 40, 1L << 39, 1_000_000, 900_000);

        public SyncTimes Sync(string folder) => times;
    }
}
