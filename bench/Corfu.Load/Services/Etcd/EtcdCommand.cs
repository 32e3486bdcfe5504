using System.CommandLine;
using Corfu.Hosting;
using Corfu.Load.Suite;

namespace Corfu.Load;

/// <summary><c>etcd</c>: a front end beside etcd, both called by the same client.</summary>
internal static class EtcdCommand
{
    private const string One = "corfu, 1 unit";
    private const string Two = "corfu, 3 units of 2 replicas";
    private const string NoStore = "gRPC without a store";
    private const int Small = 128;
    private const int Large = 4096;
    private const int Many = 512;

    /// <summary>Each generator's.</summary>
    public static WorkloadSetting Connections { get; } = new() { Connections = 4 };

    public static Command Create() => ServiceCommand.Create(
        "etcd", "A front end for clients of etcd beside an etcd, both called by the same client.",
        new ServiceSection("put", "Puts beside etcd", PutAsync),
        new ServiceSection("range", "Reads of one key beside etcd", RangeAsync));

    private static async Task PutAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        (int Size, int Window)[] loads =
            [(Small, 1), (Small, ServicePoints.Window), (Small, Many), (Large, ServicePoints.Window)];
        section.Note("Each caller puts a key of its own. Every put is durable before its answer: with two replicas in "
            + "the files of two units, with etcd in those of its one member. All files are on this machine's one "
            + "disk. The server without a store answers at once: a Kestrel and gRPC as they are by default, with the "
            + "same generators on the same cores.");
        var points = await MeasureAsync(run, section, [.. loads.Select(load => (WorkloadKind.EtcdPut, load.Size,
            load.Window, ServicePoints.LoadOf(load.Window, load.Size)))], true, cancellationToken);
        foreach (var (size, window) in loads)
        {
            var load = ServicePoints.LoadOf(window, size);
            if (points.Find(One, load) is { } own) section.Sum($"put_{size}_{window}", ServicePoints.Rate(own.Rounds));
            if (points.Ratio(One, PeerServers.Etcd, load) is { } ratio)
                section.Sum($"put_{size}_{window}_of_etcd", ratio, "0.00");
            if (points.Ratio(One, NoStore, load) is { } bare)
                section.Sum($"put_{size}_{window}_of_grpc", bare, "0.00");
        }
    }

    private static async Task RangeAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        section.Note("All callers of a process read one key, and nothing is written. A serializable read asks no other "
            + "process.");
        (WorkloadKind Kind, string Name)[] reads =
            [(WorkloadKind.EtcdRange, "linearizable"), (WorkloadKind.EtcdLocalRange, "serializable")];
        var points = await MeasureAsync(run, section, [.. reads.Select(read => (read.Kind, Small,
            ServicePoints.Window, read.Name))], false, cancellationToken);
        foreach (var (_, name) in reads)
        {
            if (points.Find(One, name) is { } own) section.Sum($"range_{name}", ServicePoints.Rate(own.Rounds));
            if (points.Ratio(One, PeerServers.Etcd, name) is { } ratio)
                section.Sum($"range_{name}_of_etcd", ratio, "0.00");
        }
    }

    private static async Task<ServicePoints> MeasureAsync(SuiteRun run, FigureSection section,
        (WorkloadKind Kind, int Size, int Window, string Load)[] loads, bool hasPuts,
        CancellationToken cancellationToken)
    {
        await using var one = await run.Clusters.StartAsync(
            new ClusterShape { Units = 1, Replicas = 1 }, cancellationToken);
        await using var two = await run.Clusters.StartAsync(
            new ClusterShape { Units = 3, Replicas = 2 }, cancellationToken);
        using var frontOfOne = BareRoleProcess.StartEtcd(one.ConnectionString);
        using var frontOfTwo = BareRoleProcess.StartEtcd(two.ConnectionString);
        using var empty = hasPuts ? BareRoleProcess.StartEtcd(EtcdServerCommand.Empty) : null;
        await using var peers = await PeerServers.StartEtcdAsync(run.Folder, section, cancellationToken);
        List<(string Name, string Target, Func<double> Seconds)> systems =
        [
            (One, await frontOfOne.AddressAsync(cancellationToken), () => SecondsOf(one, frontOfOne)),
            (Two, await frontOfTwo.AddressAsync(cancellationToken), () => SecondsOf(two, frontOfTwo)),
            .. peers.Running.Select(peer => (peer.Name, peer.Target, (Func<double>)peer.ProcessorSeconds)),
        ];
        if (empty is not null)
        {
            systems.Add((NoStore, await empty.AddressAsync(cancellationToken),
                () => ServicePoints.ProcessorSeconds(empty.Id)));
        }

        var cases = from load in loads
                    from system in systems
                    select ServicePoints.Case(system.Name, load.Kind, load.Window, load.Size, hasPuts, Connections,
                        load: load.Load) with
                    {
                        Target = system.Target,
                        Servers = system.Seconds,
                    };
        var points = new ServicePoints(await run.MeasureAsync(systems[0].Target, cases, cancellationToken));
        if (peers.Running.Count == 0) section.Problem("etcd is not installed, so there is no ratio to it");
        section.Note("Two generators with four connections each (one generator with one operation in flight); the code "
            + "of the client is the same for both systems. etcd is one member as it is by default. "
            + "\"Servers\" of corfu are the front end, the units and the sequencer, with what they do at rest. All "
            + "systems' servers run throughout, on the cores of the generators.");
        points.AddTo(section);
        return points;
    }

    private static double SecondsOf(LoadCluster cluster, BareRoleProcess frontEnd) =>
        cluster.ProcessorTime().TotalSeconds + ServicePoints.ProcessorSeconds(frontEnd.Id);
}
