using System.CommandLine;
using Corfu.ModelCheck;
using Corfu.ModelCheck.Traces;

var scenario = new Option<string?>("--scenario") { Description = "only this one" };
var states = new Option<int>("--states")
{
    Description = "states per scenario at which the search ends",
    DefaultValueFactory = _ => 4_000_000
};
var planted = new Option<string?>("--planted")
{ Description = "let the processes make this mistake, which must be found; or all of them, one by one" };
var traces = new Option<int?>("--traces")
{
    Description = "replay so many seeds of the simulator through the model's processes; with --planted, of a product "
    + "with that bug (needs a build with -p:Planted=true)"
};
var start = new Option<ulong>("--start") { Description = "first seed of --traces", DefaultValueFactory = _ => 1 };
var list = new Option<bool>("--list") { Description = "name scenarios and mistakes" };
var root = new RootCommand("Searches every interleaving of small reconfigurations and repairs over the real cores, "
    + "and replays runs of the simulator through the same processes (docs/testing-simulator.md).")
{
    scenario, states, planted, traces, start, list,
};
root.SetAction(result =>
{
    if (result.GetValue(list)) return Report.List(Console.Out);
    if (result.GetValue(traces) is { } count)
        return TraceReport.Run(count, result.GetValue(start), result.GetValue(planted), Console.Out);
    if (result.GetValue(planted) is { } name)
        return Report.Planted(name, result.GetValue(scenario), result.GetValue(states), Console.Out);
    return Report.All(result.GetValue(scenario), result.GetValue(states), Console.Out);
});
return root.Parse(args).Invoke();
