using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel.Network;
using Corfu.Transport;
using Salus.Coordination;
using Salus.Protocol;
using Salus.Region;
using Salus.Region.Body;
using Salus.Region.Recovery;
using Salus.Region.Scrub;
using Salus.Store;
using Salus.Store.Files;
using Salus.Store.Log;
using Tango;

namespace Corfu.Simulation.Salus;

/// <summary>The shipped parts of a node in a simulated process: a store for recoveries, region servers as long as the
/// lease lasts, and an agent.</summary>
internal sealed class SimSalusNode(
    SalusCluster cluster, SimSalusMachine machine, SimProcess process, StoreLog log, IRegionFiles files)
{
    private readonly SimEntropy _entropy = new(cluster.World.Random.Split($"{machine.Name} {process.Id}"));
    private readonly SimLogger _logger = new(cluster.World, machine.Name);

    public async Task RunAsync()
    {
        var transport = new SabotagedTransport(machine, cluster.TransportOf(process, machine.Name), process.Time,
            cluster.World.Random.Split($"sabotaged {machine.Name} {process.Id}"));
        var runtime = cluster.OpenRuntime(process, machine.Name, _entropy);
        var map = await cluster.PatientlyAsync(process,
            () => VolumeMap.OpenAsync(runtime, process.Time, process.Loops));
        var (bodies, scrub) = Files(map, transport);
        var store = new StoreHandler(new NodeId(machine.Store.Value), log, files, new Generations(map), scrub,
            Records(map, transport));
        var asked = new Saboteur(machine, store, cluster.World.Random.Split($"store {machine.Name} {process.Id}"));
        machine.Host.Listen(process, [asked], OpenGate.Instance);
        var agent = await cluster.PatientlyAsync(process, () => SalusAgent.StartAsync(runtime, map,
            new AgentParts(transport, process.Time, process.Loops, _logger), cluster.AgentOptions));
        // A store that lacks something hosts no member.
        if (log.State == StoreState.Salvaged) return;
        var lease = new NodeLease(map.Book, new NodeRegistration(machine.Store, machine.Host.Endpoint, "", log.Free,
            cluster.Plan.At(NodeRegistration.DefaultTimeToLive)), process.Time, _entropy, process.Loops, _logger);
        while (true)
        {
            var incarnation = await HeldAsync(lease, after: default);
            var server = Serve(map, lease, incarnation, transport, bodies);
            machine.Host.Listen(process, [asked, new Saboteur(machine, server,
                cluster.World.Random.Split($"saboteur {incarnation}"))], OpenGate.Instance);
            machine.Incarnation = incarnation;
            server.Start();
            await HeldAsync(lease, after: incarnation);
            machine.Host.Listen(process, [asked], OpenGate.Instance);
            await server.DisposeAsync();
        }
    }

    // The regions' files and the search for damage outlive the process's incarnations.
    private (RegionBodies Bodies, FileScrub Scrub) Files(VolumeMap map, ITransport transport)
    {
        FileScrub? scrub = null;
        var bodies = new RegionBodies(files, new SimWorkers(process), file => scrub!.Report(file), Failed,
            memtables: cluster.Plan.Memtables, missing: file => scrub!.Want(file));
        scrub = new FileScrub(machine.Store, files, bodies, () => map.View, transport, process.Time, process.Loops,
            cluster.ScrubOptions);
        scrub.Broken += _ => cluster.Monitor.Mark("file found damaged");
        scrub.Mended += _ => cluster.Monitor.Mark("file mended");
        scrub.Start();
        return (bodies, scrub);
    }

    private LogScrub Records(VolumeMap map, ITransport transport)
    {
        var scrub = new LogScrub(machine.Store, log, () => map.View, transport, process.Time, process.Loops,
            cluster.ScrubOptions);
        scrub.Broken += _ => cluster.Monitor.Mark("record found damaged");
        scrub.Mended += _ => cluster.Monitor.Mark("record mended");
        scrub.Start();
        return scrub;
    }

    private RegionServer Serve(VolumeMap map, NodeLease lease, Incarnation incarnation, ITransport transport,
        RegionBodies bodies)
    {
        var regions = new RegionMap(map, lease, incarnation);
        var self = new ServerIdentity(machine.Store, new Signer(incarnation));
        var recovery = new RegionRecovery(machine.Store, self.Signer, log, files, bodies, regions, transport,
            new RecoveryTimes(process.Time, process.Loops, cluster.RecoveryOptions));
        return new RegionServer(self, log, regions, recovery, transport, process.Time, process.Loops,
            cluster.ServerOptions);
    }

    // Damage that a machine with lasting faults finds in its memory is no fault of the code.
    private void Failed(Exception error)
    {
        if (machine.Sabotage == SalusFault.FlipMemory) cluster.Monitor.Mark("memory found damaged");
        else process.World.Fail($"{machine.Name}: {error}");
    }

    private async Task<Incarnation> HeldAsync(NodeLease lease, Incarnation after)
    {
        while (true)
        {
            var changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            lease.Changed += Wake;
            var held = lease.Incarnation;
            if (after.IsNone ? !held.IsNone : held != after)
            {
                lease.Changed -= Wake;
                return held;
            }

            await changed.Task;
            lease.Changed -= Wake;

            void Wake() => changed.TrySetResult();
        }
    }

    private sealed class Generations(VolumeMap map) : IGenerations
    {
        public bool IsRecorded(RegionKey region, Epoch generation) => map.View.IsRecorded(region, generation);
    }
}

internal sealed class OpenGate : IRequestGate
{
    public static readonly OpenGate Instance = new();

    public Status Judge(Request request) => Status.Ok;
}
