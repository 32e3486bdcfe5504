using System.CommandLine;
using Corfu.Simulation.Craq;
using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Runner;
using Corfu.Simulation.Salus;
using Corfu.Simulation.Services;
using Corfu.Simulation.ZooKeeper;

var seeds = new Option<int?>("--seeds")
{ Description = $"how many seeds to run: 200, or with --planted at most {HuntCommand.MostSeeds} for each bug" };
var start = new Option<ulong?>("--start")
{ Description = "the first seed: 1, or with --planted near the one where each bug was found last" };
var seed = new Option<ulong?>("--seed") { Description = "run this one seed, in this process" };
var trace = new Option<bool>("--trace") { Description = "with --seed: print every event" };
var workers = new Option<int>("--workers")
{
    Description = "processes",
    DefaultValueFactory = _ => Environment.ProcessorCount
};
var planted = new Option<string?>("--planted")
{
    Description = "find a planted bug by name, all of them, or make the table of them (needs a build with "
    + "-p:Planted=true)"
};
var regressions = new Option<bool>("--regressions") { Description = "run the named plans that once found a bug" };
var plant = new Option<string?>("--plant") { Description = "run with this bug switched on", Hidden = true };
var require = new Option<string[]>("--require")
{
    Description = "fail unless this situation occurs",
    DefaultValueFactory = _ => []
};
var craq = new Option<bool>("--craq") { Description = "runs of the object store beside the log (CRAQ)" };
var salus = new Option<bool>("--salus") { Description = "runs of the block store beside the log (Salus)" };
var zooKeeper = new Option<bool>("--zookeeper")
{ Description = "runs of front ends of ZooKeeper's protocol over the log" };
var services = new Option<bool>("--services")
{ Description = "runs of state machines, ledgers and key-value stores on the log" };
var serve = new Option<bool>("--serve") { Hidden = true };
var root = new RootCommand("Runs the whole Corfu cluster and its clients on one thread, from one seed per run "
    + "(docs/testing-simulator.md).")
{
    seeds, start, seed, trace, workers, planted, regressions, plant, require, craq, salus, zooKeeper, services,
    serve,
};
root.SetAction(result =>
{
    if (!HuntCommand.Switch(result.GetValue(plant), Console.Error)) return 2;
    if (result.GetValue(serve))
    {
        SeedProcess.Serve(static (runs, seed, endAt) => runs switch
        {
            CraqRun.Kind => CraqRun.Run(seed, null, endAt),
            SalusRun.Kind => SalusRun.Run(seed, null, endAt),
            ZooKeeperRun.Kind => ZooKeeperRun.Run(seed, null, endAt),
            ServicesRun.Kind => ServicesRun.Run(seed, null, endAt),
            _ => SeedRunner.Run(seed, null, endAt),
        });
        return 0;
    }

    if (result.GetValue(regressions)) return Regressions.Run(Console.Out);
    string kind = result.GetValue(craq) ? CraqRun.Kind : result.GetValue(salus) ? SalusRun.Kind
        : result.GetValue(zooKeeper) ? ZooKeeperRun.Kind : result.GetValue(services) ? ServicesRun.Kind : "";
    if (result.GetValue(planted) is { } bugs)
    {
        IReadOnlyList<PlantedBug> all = kind switch
        {
            CraqRun.Kind => CraqBugs.All,
            SalusRun.Kind => bugs == HuntCommand.All ? SalusBugs.Found : SalusBugs.All,
            ZooKeeperRun.Kind => ZooKeeperBugs.All,
            ServicesRun.Kind => ServicesBugs.All,
            // Bugs that no seed is known to show are hunted on demand.
            _ when bugs == HuntCommand.All =>
            [
                .. PlantedBugs.All, .. CraqBugs.Found, .. SalusBugs.Quick, .. ZooKeeperBugs.All, .. ServicesBugs.All,
            ],
            _ =>
            [
                .. PlantedBugs.All, .. CraqBugs.All, .. SalusBugs.All, .. ZooKeeperBugs.All, .. ServicesBugs.All,
            ],
        };
        return HuntCommand.Run(all, bugs, result.GetValue(start), result.GetValue(seeds),
            result.GetValue(workers), Console.Out);
    }

    if (result.GetValue(seed) is { } one)
    {
        bool isTraced = result.GetValue(trace);
        return kind switch
        {
            CraqRun.Kind => CraqSeed.Run(one, isTraced, Console.Out),
            SalusRun.Kind => SalusSeed.Run(one, isTraced, Console.Out),
            ZooKeeperRun.Kind => ZooKeeperRun.Show(one, isTraced, Console.Out),
            ServicesRun.Kind => ServicesRun.Show(one, isTraced, Console.Out),
            _ => SingleSeed.Run(one, isTraced, Console.Out),
        };
    }

    return SeedSweep.Run(result.GetValue(start) ?? 1, result.GetValue(seeds) ?? 200, result.GetValue(workers), kind,
        results => kind switch
        {
            CraqRun.Kind => CraqSituations.MissingIn(results, result.GetValue(require)!),
            SalusRun.Kind => SalusSituations.MissingIn(results, result.GetValue(require)!),
            ZooKeeperRun.Kind => ZooKeeperRun.MissingIn(results, result.GetValue(require)!),
            ServicesRun.Kind => ServicesRun.MissingIn(results, result.GetValue(require)!),
            _ => Situations.MissingIn(results, result.GetValue(require)!),
        }, Console.Out);
});
return root.Parse(args).Invoke();
