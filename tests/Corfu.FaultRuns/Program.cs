using System.CommandLine;
using Corfu.FaultRuns.Clients;
using Corfu.FaultRuns.Contexts;
using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Floods;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Permissions;
using Corfu.FaultRuns.PowerCuts;
using Corfu.FaultRuns.PowerCuts.Recorded;
using Corfu.FaultRuns.Returns;
using Corfu.FaultRuns.Rotation;
using Corfu.FaultRuns.Objects;
using Corfu.FaultRuns.Objects.Clients;
using Corfu.FaultRuns.Objects.Faults;
using Corfu.FaultRuns.Objects.Nodes;
using Corfu.FaultRuns.Services;
using Corfu.FaultRuns.Services.Clients;
using Corfu.FaultRuns.Transactions;
using Corfu.FaultRuns.Volumes;
using Corfu.FaultRuns.Volumes.Clients;
using Corfu.FaultRuns.Volumes.Faults;
using Corfu.FaultRuns.Volumes.Nodes;
using Corfu.FaultRuns.ZooKeeper;
using Corfu.FaultRuns.ZooKeeper.Faults;
using Tango;

var minutes = new Option<double>("--minutes")
{
    Description = "how long faults are injected",
    DefaultValueFactory = _ => 30
};
var seed = new Option<int>("--seed") { Description = "of the faults and their order", DefaultValueFactory = _ => 1 };
var only = new Option<FaultKind[]>("--only")
{
    Description = "these kinds of fault only",
    AllowMultipleArgumentsPerToken = true
};
var manual = new Option<bool>("--manual")
{
    Description = "agents only look, and the run does what operators do; else agents reconfigure on their own, with "
    + "two spare units and a standby sequencer"
};
var root = new RootCommand("Real processes, real faults: runs a cluster and its clients, hurts it, and checks the "
    + "histories (docs/testing-faults.md).") { minutes, seed, only, manual };
root.SetAction((result, stop) => Guarded(() =>
    new FaultRun(result.GetValue(seed), TimeSpan.FromMinutes(result.GetValue(minutes)), result.GetValue(only) ?? [],
        !result.GetValue(manual), Console.Out).RunAsync(stop)));

var cuts = new Option<int>("--cuts")
{
    Description = "how many times the power is cut",
    DefaultValueFactory = _ => 200
};
var withoutSync = new Option<bool>("--without-fsync")
{ Description = "let fsync do nothing: entries must be lost within a few cuts" };
var power = new Command("power-cut",
    "Cuts the power of a unit's disk again and again, and looks for what was acknowledged.") { cuts, seed,
        withoutSync };
power.SetAction((result, stop) => Guarded(() =>
    new PowerCutRun(result.GetValue(seed), result.GetValue(cuts), result.GetValue(withoutSync), Console.Out)
        .RunAsync(stop)));
root.Add(power);

var states = new Option<int>("--states") { Description = "distinct states to try", DefaultValueFactory = _ => 10_000 };
var stride = new Option<int>("--stride")
{
    Description = "only every so manieth moment of a life",
    DefaultValueFactory = _ => 1
};
var noSync = new Option<bool>("--without-sync") { Description = "let syncs do nothing: entries must be lost" };
var recorded = new Command("power-cuts",
    "Cuts the power of a unit over a recorded disk, at every moment and in many ways, and starts it on what is left.")
    { states, stride, seed, noSync };
recorded.SetAction((result, stop) => Guarded(async () =>
{
    using var run = new RecordedCuts(result.GetValue(seed), result.GetValue(noSync), Console.Out);
    return await run.RunAsync(result.GetValue(states), result.GetValue(stride), stop) ? 0 : 1;
}));
root.Add(recorded);

var kills = new Option<int>("--kills")
{
    Description = "how many units are killed, one after another",
    DefaultValueFactory = _ => 20
};
var returns = new Command("returns",
    "Kills units, lets agents take them out, starts them again and waits until they are full replicas; appends go on.")
    { kills, seed };
returns.SetAction(
    (result, stop) =>
        Guarded(() => new ReturnsRun(result.GetValue(kills), result.GetValue(seed), Console.Out).RunAsync(stop)));
root.Add(returns);

var flips = new Option<int>("--flips") { Description = "how many bits are flipped", DefaultValueFactory = _ => 300 };
var batch = new Option<int>("--batch") { Description = "how many before each start", DefaultValueFactory = _ => 10 };
var bitFlips = new Command("bit-flips",
    "Flips bits in one unit's log of a stopped cluster, starts it and reads everything.") { flips, batch, seed };
bitFlips.SetAction(
    (result, stop) =>
        Guarded(() => new BitFlipRun(result.GetValue(flips), result.GetValue(batch), result.GetValue(seed), Console.Out)
            .RunAsync(stop)));
root.Add(bitFlips);

var count = new Option<long>("--count")
{
    Description = "how many transactions commit at least",
    DefaultValueFactory = _ => 100_000
};
var decided = new Option<ClientDecisions>("--decisions")
{
    Description = "who decides: playback, the sequencer, or each for half of the clients"
};
var transactions = new Command("transactions",
    "Runs transactions of several processes under faults and searches their histories for anomalies.")
    { count, seed, decided };
transactions.SetAction(
    (result, stop) => Guarded(
        () => new TransactionRun(result.GetValue(seed), result.GetValue(count), result.GetValue(decided), Console.Out)
            .RunAsync(stop)));
root.Add(transactions);

var guests = new Option<int>("--guests")
{
    Description = "how many callers of each kind come",
    DefaultValueFactory = _ => 20
};
var contexts = new Command("contexts",
    "Makes the first calls from contexts that end or block, and others on the thread pool beside them.") { guests };
contexts.SetAction((result, stop) => Guarded(
    () => new ContextRun(result.GetValue(guests), Console.Out).RunAsync(stop)));
root.Add(contexts);

var permissions = new Command("permissions",
    "Lets each kind of peer send every opcode to every role of a node behind TLS, and compares what it may with "
    + "docs/permissions.md.");
permissions.SetAction((_, stop) => Guarded(() => new PermissionRun(UndoList.New(), Console.Out).RunAsync(stop)));
root.Add(permissions);
var floods = new Command("floods",
    "Floods a cluster with slow peers, connections, handshakes and a greedy client: no node may seem gone by it.");
var slowSeconds = new Option<int>("--slow-seconds") { DefaultValueFactory = _ => 60 };
var floodSeconds = new Option<int>("--flood-seconds") { DefaultValueFactory = _ => 20 };
var rounds = new Option<int>("--rounds")
{
    Description = "alone and beside the greedy client, in turn",
    DefaultValueFactory = _ => 3
};
floods.Add(slowSeconds);
floods.Add(floodSeconds);
floods.Add(rounds);
floods.SetAction((result, stop) => Guarded(() => new FloodRun(result.GetValue(slowSeconds),
    result.GetValue(floodSeconds), result.GetValue(rounds), Console.Out).RunAsync(stop)));
root.Add(floods);

var rotation = new Command("rotation",
    "Changes all certificates and the authority twice under load, with restarts, then revokes a client.");
rotation.SetAction((_, stop) => Guarded(() => new RotationRun(Console.Out).RunAsync(stop)));
root.Add(rotation);

var storeSeconds = new Option<int>("--seconds")
{
    Description = "how long faults are injected",
    DefaultValueFactory = _ => 120
};
var onlyStore = new Option<StoreFault[]>("--only")
{
    Description = "these kinds of fault only",
    AllowMultipleArgumentsPerToken = true
};
var store = new Command("craq",
    "Kills, stops and cuts off CRAQ nodes under writes, reads in all modes and transactions, and judges the histories.")
    { storeSeconds, seed, onlyStore };
store.SetAction((result, stop) => Guarded(() => new StoreRun(result.GetValue(seed),
    TimeSpan.FromSeconds(result.GetValue(storeSeconds)), result.GetValue(onlyStore) ?? [], Console.Out)
        .RunAsync(stop)));
root.Add(store);

var onlyVolume = new Option<VolumeFaultKind[]>("--only")
{
    Description = "these kinds of fault only",
    AllowMultipleArgumentsPerToken = true
};
var volumes = new Command("salus",
    "Kills, stops, cuts off and damages Salus nodes under a volume that is written and read, kills the writer, and "
    + "judges what each mount finds.") { storeSeconds, seed, onlyVolume };
volumes.SetAction((result, stop) => Guarded(() => new VolumeRun(result.GetValue(seed),
    TimeSpan.FromSeconds(result.GetValue(storeSeconds)), result.GetValue(onlyVolume) ?? [], Console.Out)
        .RunAsync(stop)));
root.Add(volumes);

var onlyZoo = new Option<ZooFaultKind[]>("--only")
{
    Description = "these kinds of fault only",
    AllowMultipleArgumentsPerToken = true
};
var zooKeeper = new Command("zookeeper",
    "Kills and stops front ends of ZooKeeper's protocol and processes of their log under 50 sessions, and judges what "
    + "each session was told.") { storeSeconds, seed, onlyZoo };
zooKeeper.SetAction((result, stop) => Guarded(() => new ZooKeeperRun(result.GetValue(seed),
    TimeSpan.FromSeconds(result.GetValue(storeSeconds)), result.GetValue(onlyZoo) ?? [], Console.Out)
        .RunAsync(stop)));
root.Add(zooKeeper);

var onlyServices = new Option<FaultKind[]>("--only")
{
    Description = "these kinds of fault only",
    AllowMultipleArgumentsPerToken = true
};
var services = new Command("services",
    "Kills and stops processes of a log, and those that share a key-value store, ledgers and a state machine over it, "
    + "and judges what each was told.") { storeSeconds, seed, onlyServices };
services.SetAction((result, stop) => Guarded(() => new ServicesRun(result.GetValue(seed),
    TimeSpan.FromSeconds(result.GetValue(storeSeconds)), result.GetValue(onlyServices) ?? [], Console.Out)
        .RunAsync(stop)));
root.Add(services);

var cleanup = new Command("cleanup", "Takes away what killed runs have left.");
cleanup.SetAction(_ => UndoList.Cleanup(Console.Out));
root.Add(cleanup);

var connect = new Option<string>("--connect") { Required = true };
var name = new Option<string>("--name") { Required = true };
var history = new Option<string>("--history") { Required = true };
var client = new Command("client", "One workload process.") { connect, name, seed, history };
client.Hidden = true;
client.SetAction(
    result => WorkClient.RunAsync(result.GetValue(connect)!, result.GetValue(name)!, result.GetValue(seed),
        result.GetValue(history)!));
root.Add(client);

var servicesClient = new Command("services-client", "One process of the services.") { connect, name, seed, history };
servicesClient.Hidden = true;
servicesClient.SetAction(
    result => ServicesClient.RunAsync(result.GetValue(connect)!, result.GetValue(name)!, result.GetValue(seed),
        result.GetValue(history)!));
root.Add(servicesClient);

var from = new Option<string>("--from") { Required = true };
var inFlight = new Option<int>("--in-flight") { Required = true };
var seconds = new Option<int>("--seconds") { Required = true };
var loader = new Command("loader", "Appends, with so many in flight, from one address.")
{
    connect, from, inFlight, seconds,
};
loader.Hidden = true;
loader.SetAction(result => Loader.RunAsync(result.GetValue(connect)!, result.GetValue(from)!,
    result.GetValue(inFlight), result.GetValue(seconds)));
root.Add(loader);

var place = new Option<int>("--place") { Required = true };
var prefix = new Option<string>("--prefix") { Required = true };
var planted = new Option<PlantedClient>("--planted");
var decisions = new Option<TransactionDecisions>("--decisions");
var txClient = new Command("tx-client", "One process of transactions.")
{
    connect, name, seed, history, place, prefix, planted, decisions,
};
txClient.Hidden = true;
txClient.SetAction(
    result => TxClient.RunAsync(result.GetValue(connect)!, result.GetValue(name)!, result.GetValue(seed),
        result.GetValue(history)!, result.GetValue(place), result.GetValue(prefix)!, result.GetValue(planted),
        result.GetValue(decisions)));
root.Add(txClient);

var file = new Option<string>("--file") { Required = true };
var audit = new Command("audit", "Reads everything with a fresh client.") { connect, file };
audit.Hidden = true;
audit.SetAction(result => Audit.RunAsync(result.GetValue(connect)!, result.GetValue(file)!));
root.Add(audit);

var port = new Option<int>("--port") { Required = true };
var target = new Option<string>("--target") { Required = true };
var proxy = new Command("proxy", "Stands before a node.") { port, target };
proxy.Hidden = true;
proxy.SetAction(result => DelayProxy.RunAsync(result.GetValue(port), result.GetValue(target)!));
root.Add(proxy);

var nodes = new Option<string>("--nodes") { Required = true };
var storeClient = new Command("craq-client", "One workload process of the store.")
{
    nodes, connect, name, seed, history,
};
storeClient.Hidden = true;
storeClient.SetAction(result => StoreClient.RunAsync(result.GetValue(nodes)!, result.GetValue(name)!,
    result.GetValue(seed), result.GetValue(history)!));
root.Add(storeClient);

var objects = new Option<string>("--objects") { Required = true };
var storeAudit = new Command("craq-audit", "Reads all objects with a fresh client.") { nodes, objects, file };
storeAudit.Hidden = true;
storeAudit.SetAction(result =>
    StoreAudit.RunAsync(result.GetValue(nodes)!, result.GetValue(objects)!, result.GetValue(file)!));
root.Add(storeAudit);

var folder = new Option<string>("--folder") { Required = true };
var nodeCount = new Option<int>("--count") { Required = true };
var storeForm = new Command("craq-form", "Makes the folders of nodes.") { folder, connect, nodeCount };
storeForm.Hidden = true;
storeForm.SetAction(result =>
    StoreRig.FormAsync(result.GetValue(folder)!, result.GetValue(connect)!, result.GetValue(nodeCount)));
root.Add(storeForm);

var storeWatch = new Command("craq-watch", "Prints whether all chains are whole.") { connect, nodeCount };
storeWatch.Hidden = true;
storeWatch.SetAction(result => StoreWatch.RunAsync(result.GetValue(connect)!, result.GetValue(nodeCount)));
root.Add(storeWatch);

var firstWrite = new Option<long>("--first") { Required = true };
var isAudit = new Option<bool>("--audit");
var volumeWriter = new Command("volume-writer", "The process that has the volume mounted.")
{
    connect, firstWrite, seed, history, isAudit,
};
volumeWriter.Hidden = true;
volumeWriter.SetAction(result => VolumeWriter.RunAsync(result.GetValue(connect)!, VolumeRig.Volume,
    result.GetValue(firstWrite), result.GetValue(seed), result.GetValue(history)!, result.GetValue(isAudit)));
root.Add(volumeWriter);

var salusForm = new Command("salus-form", "Makes the folders of nodes.") { folder, connect, nodeCount };
salusForm.Hidden = true;
salusForm.SetAction(result =>
    VolumeRig.FormAsync(result.GetValue(folder)!, result.GetValue(connect)!, result.GetValue(nodeCount)));
root.Add(salusForm);

var salusWatch = new Command("salus-watch", "Prints whether all regions are whole.") { connect };
salusWatch.Hidden = true;
salusWatch.SetAction(result => VolumeWatch.RunAsync(result.GetValue(connect)!));
root.Add(salusWatch);

// Ctrl-C and SIGTERM end the faults, not the judgement.
return await root.Parse(args)
    .InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = TimeSpan.FromMinutes(10) });

static async Task<int> Guarded(Func<Task<int>> run)
{
    try
    {
        return await run();
    }
    catch (RunException e)
    {
        Console.Error.WriteLine($"The run could not be carried out: {e.Message}");
        return 2;
    }
}
