using System.Collections.Immutable;
using Corfu.Cli;
using Corfu.Hosting;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Doctor;

/// <summary>Facts of a sound cluster on three hosts, into which tests plant one fault each.</summary>
internal static class DoctorFacts
{
    public static readonly DateTimeOffset Now = new(2026, 11, 26, 12, 0, 0, TimeSpan.Zero);

    public static NodeAddress Node(int host, int id) => new(
        new NodeId(new Guid(id, 0, 0, new byte[8])), new NodeEndpoint($"10.0.0.{host}", 7000));

    public static Projection Projection(int[] acceptorHosts, int[][] chains)
    {
        Chain ChainOf(int[] chain) => new([.. chain.Select(unit => new Replica(Node(unit, unit).Id))]);
        var units = chains.SelectMany(chain => chain).Distinct().Order().ToList();
        return new Projection(new ClusterId(Guid.NewGuid()), new Epoch(3), Node(1, 90), LogPosition.Zero,
            LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [.. chains.Select(ChainOf)])],
            [.. units.Select(unit => Node(unit, unit))],
            [.. acceptorHosts.Select((host, i) => Node(host, 50 + i))], "a test");
    }

    public static ClusterFacts Sound() =>
        new(Projection([1, 2, 3], [[1, 2], [2, 3], [3, 1]]), new ClusterVerdict(true, []))
        {
            Now = Now,
            IsAutomatic = true,
            Members = [.. Enumerable.Range(1, 4).Select(Member)],
            Nodes =
            [
                new NodeReport(Node(4, 4), NodeRole.Unit, NodeDuty.Spare, NodeHealth.Alive, ""),
                new NodeReport(Node(2, 91), NodeRole.Sequencer, NodeDuty.Standby, NodeHealth.Alive, ""),
            ],
            Reach = [new ReachFact(Node(1, 1).Endpoint, Node(2, 2).Endpoint, true, "")],
            Growth = new LogGrowth(1000, 10_000),
        };

    public static MemberFacts Member(int host) => new(Node(host, host).Endpoint)
    {
        StoredBytes = 10 << 20,
        Process = new ProcessReport
        {
            Name = $"n{host}",
            Build = "1.0.0",
            LowestProtocol = 1,
            HighestProtocol = 2,
            Now = Now,
            Started = Now.AddDays(-2),
            OpenFiles = 100,
            OpenFileLimit = 65536,
            Memory = 100 << 20,
            MemoryLimit = 8L << 30,
            Swapped = 0,
            Tls = TlsMode.Required,
            Disks = [new DiskReport("/data", "ext4", 1L << 40, 1L << 39, 1_000_000, 900_000)],
            Certificates =
            [
                new CertificateReport($"corfu://c/node/n{host}", "01", Now.AddDays(-10), Now.AddDays(80), false),
                new CertificateReport("CN=Corfu", "02", Now.AddDays(-10), Now.AddYears(10), true)
                {
                    Fingerprint = "AB",
                },
            ],
        },
    };

    /// <summary>The facts with the first member's process changed.</summary>
    public static ClusterFacts With(Func<ProcessReport, ProcessReport> change)
    {
        var facts = Sound();
        var first = facts.Members[0];
        return facts with
        {
            Members = facts.Members.SetItem(0, first with { Process = change(first.Process!) }),
        };
    }

    public static ClusterFacts WithDisk(Func<DiskReport, DiskReport> change) =>
        With(process => process with { Disks = [change(process.Disks[0])] });
}
