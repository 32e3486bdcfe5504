using System.CommandLine;
using Corfu.ModelCheck;
using Corfu.ModelCheck.Processes;

var scenario = new Option<string?>("--scenario") { Description = "only this one" };
var states = new Option<int>("--states")
{
    Description = "states per scenario at which the search ends",
    DefaultValueFactory = _ => 4_000_000
};
var planted = new Option<string?>("--planted")
{ Description = "let the processes make this mistake, which must be found; or all of them, one by one" };
var list = new Option<bool>("--list") { Description = "name scenarios and mistakes" };
var root = new RootCommand("Searches every interleaving of small reconfigurations and repairs over the real cores "
    + "(docs/testing-simulator.md).")
{
    scenario, states, planted, list,
};
root.SetAction(result =>
{
    if (result.GetValue(list)) return Report.List(Console.Out);
    if (result.GetValue(planted) is { } name)
        return Report.Planted(name, result.GetValue(scenario), result.GetValue(states), Console.Out);
    return Report.All(result.GetValue(scenario), result.GetValue(states), Console.Out);
});
return root.Parse(args).Invoke();
