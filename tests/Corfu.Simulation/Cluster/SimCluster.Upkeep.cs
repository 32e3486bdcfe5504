using System.Collections.Immutable;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Transport;
using Corfu.Unit;

namespace Corfu.Simulation.Cluster;

/// <summary>Work of operators on a healthy cluster: segments joined, units retired, another number of replicas,
/// scrubs.</summary>
public sealed partial class SimCluster
{
    private bool _scrubbing;

    /// <summary>Brings the log onto fewer segments (TOCS 2.6), entry by entry.</summary>
    public bool StartMigration()
    {
        if (_changes > 1 || Monitor.Newest.Segments.Length < 2) return false;
        RunChange(async node =>
        {
            var migrator = new Migrator(((CorfuClient)node.Log!).Cluster, node.Transport!, node.Process!.Time);
            if (await TryAsync(() => migrator.CompactAsync(1, "simulated migration"), node)
                && migrator.Progress.Total > 0) Monitor.Mark("segment migrated");
        });
        return true;
    }

    /// <summary>A healthy unit leaves in good order, or new entries get another number of replicas; what is written
    /// follows.</summary>
    public bool StartReshaping(SimRandom random)
    {
        if (_changes > 1) return false;
        Projection newest = Monitor.Newest;
        NodeAddress unit = random.Pick(newest.Units);
        int replicas = random.Between(2, 3);
        bool retires = random.Chance(0.5);
        ImmutableArray<NodeAddress> offered = [.. Units.Where(u => !newest.HasUnit(u.UnitId)).Select(u => u.Address)];
        RunChange(async node =>
        {
            var client = (CorfuClient)node.Log!;
            var operations = new ClusterOperations(client.Cluster, node.Transport!, node.Process!.Time);
            var rebuilder = new Rebuilder(client.Cluster, node.Transport!, node.Process!.Time);
            var migrator = new Migrator(client.Cluster, node.Transport!, node.Process!.Time);
            bool done = await TryAsync(
                () => retires
                    ? operations.RetireUnitAsync(unit.Id, offered, rebuilder, "simulated retirement")
                    : operations.SetReplicasAsync(replicas, migrator, "simulated change of replicas"),
                node);
            if (done) Monitor.Mark(retires ? "unit retired" : "number of replicas changed");
            await RebuildAsync(node);
        });
        return true;
    }

    /// <summary>Passes over the log once while everything goes on. The scrub must find no position whose good copies
    /// differ, and none without a good copy.</summary>
    public bool StartScrub()
    {
        if (_scrubbing) return false;
        _scrubbing = true;
        RunChange(async node =>
        {
            await ScrubAsync(node);
            _scrubbing = false;
        });
        return true;
    }

    /// <returns>Pages that were given back.</returns>
    internal async Task<long> ScrubAsync(SimClientNode node)
    {
        var options = new ScrubOptions { PositionsPerSecond = null, RetryDelay = TimeSpan.FromMilliseconds(20) };
        var scrubber = new Scrubber(
            ((CorfuClient)node.Log!).Cluster, node.Process!.Time, new SimLogger(World, node.Name),
            options);
        ScrubProgress pass = await scrubber.RunPassAsync();
        Monitor.Mark("log scrubbed");
        if (pass.Mended > 0) Monitor.Mark("scrub mended a page");
        if (pass.Diverged > 0)
            Monitor.Found(CheckerNames.ChainPrefix, $"a scrub found {pass.Diverged} positions whose replicas differ");
        if (pass.Unrecoverable > 0)
            Monitor.Found(CheckerNames.UnitDurable,
                $"a scrub found {pass.Unrecoverable} positions without a good copy");
        return pass.Mended;
    }

    /// <summary>
    /// A client that is wrong about where the log ends fills and trims far beyond it, or is wrong about the epoch and
    /// seals, prepares and installs far ahead, and the cluster is reconfigured: the next epoch begins above what the
    /// units report (R13), and is the next one.
    /// </summary>
    public bool StartWildRequests(SimRandom random)
    {
        if (_changes > 1) return false;
        NodeAddress unit = random.Pick(Monitor.Newest.Units);
        long far = random.Pick([2 * UnitCore.Reach, 1L << 50, long.MaxValue - 1, long.MaxValue]);
        NodeAddress acceptor = random.Pick(Monitor.Newest.Acceptors);
        int verb = random.Next(8);
        RunChange(async node =>
        {
            var client = (CorfuClient)node.Log!;
            Epoch epoch = client.Projection.Epoch;
            var position = new LogPosition(far);
            Projection forged = FarAhead(client.Projection, far);
            try
            {
                Response answer = verb switch
                {
                    0 =>
                        await node.Transport!.CallAsync(unit, new FillRequest(epoch, Entries.Junk(far, epoch.Value)),
                            default),
                    1 => await node.Transport!.CallAsync(unit, new TrimRequest(epoch, position, default), default),
                    2 => await node.Transport!.CallAsync(unit, new TrimPrefixRequest(epoch, position), default),
                    3 => await node.Transport!.CallAsync(unit, new SealRequest(new Epoch(far)), default),
                    4 => await node.Transport!.CallAsync(acceptor,
                        new PrepareRequest(epoch.Next, new Ballot(far, Guid.AllBitsSet)), default),
                    5 => await node.Transport!.CallAsync(unit, new InstallRequest(forged), default),
                    6 => await node.Transport!.CallAsync(acceptor, new DecidedRequest(forged), default),
                    _ => await node.Transport!.CallAsync(forged.Sequencer, new BootstrapRequest(forged), default),
                };
                if (answer.Status == Status.BadRequest)
                    Monitor.Mark(verb < 3 ? "wild position refused" : "wild projection refused");
                if (verb == 3 && answer.Status == Status.NotInstalled) Monitor.Mark("wild seal refused");
                if (verb == 4 && answer.Status == Status.Outbid) Monitor.Mark("wild ballot refused");
            }
            catch (TransportException)
            {
                // The request may have arrived.
            }

            StartReconfiguration();
        });
        return true;
    }

    private static Projection FarAhead(Projection p, long epoch) =>
        new(p.Cluster, new Epoch(epoch), p.Sequencer, p.Start, p.TrimMark, p.Segments, p.Units, p.Acceptors, "forged");

    /// <summary>The next flush of a unit's log fails: the unit stops serving, says so, and is started again after a
    /// while.</summary>
    public bool FailDisk(SimRandom random, long away)
    {
        return random.Pick(Units).FailFlush(away);
    }

    /// <summary>Others take the space of a machine's disk, and free it after a while.</summary>
    public bool FillDisk(SimRandom random, long held)
    {
        SimUnitNode node = random.Pick(Units);
        if (!node.FillDisk(random, held)) return false;
        World.Schedule(null, held, SimEventKind.Fault, node.Disk.FreeSpace);
        return true;
    }

    /// <summary>Damages a page, always on the same disk: elsewhere there is a good copy of everything.</summary>
    public bool DamagePage(SimRandom random) => Units[0].DamagePage(random);
}
