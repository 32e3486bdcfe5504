using System.CommandLine;
using Corfu.Fuzz;

var inputs = new Option<long>("--inputs")
{
    Description = "Inputs over all decoders.",
    DefaultValueFactory = _ => 1_000_000
};
var seed = new Option<int>("--seed")
{
    Description = "The same seed gives the same inputs.",
    DefaultValueFactory = _ => 1
};
var only = new Option<string?>("--target")
{
    Description = "One decoder alone, or all whose names begin with the word; 'ports' or 'requests' for a running "
        + "cluster."
};
var at = new Option<long?>("--at") { Description = "One input alone, by its number; needs --target." };
var frames = new Option<int>("--frames")
{
    Description = "Damaged frames to the listeners of a running cluster, while a good client goes on.",
    DefaultValueFactory = _ => 20_000
};
var requests = new Option<long>("--requests")
{
    Description = "Well-formed requests that change state; the cluster is started again after every 5,000.",
    DefaultValueFactory = _ => 50_000,
};
var reach = new Option<long>("--reach")
{
    Description = "How far above the log's end the positions of such requests lie.",
    DefaultValueFactory = _ => long.MaxValue,
};
var state = new Option<string?>("--state")
{ Description = "A file that remembers how far the run is: the same command goes on where it was stopped." };
var root = new RootCommand("Malformed input for every decoder and every listening port.") { inputs, seed, only, at,
    frames, requests, reach, state };
root.SetAction(async (result, stop) =>
{
    var folder = Directory.CreateTempSubdirectory("corfu-fuzz-").FullName;
    try
    {
        var output = result.InvocationConfiguration.Output;
        var name = result.GetValue(only);
        var targets = AllTargets.In(folder).Where(t => name is null || t.Name == name).ToList();
        if (targets.Count == 0)
            targets = [.. AllTargets.In(folder).Where(t => t.Name.StartsWith($"{name} ", StringComparison.Ordinal))];
        if (targets.Count == 0 && name is not ("ports" or "requests"))
        {
            await output.WriteLineAsync(
                $"There is no target '{name}'. Targets: ports, requests, "
                + $"{string.Join(", ", AllTargets.In(folder).Select(t => t.Name))}");
            return 2;
        }

        if (result.GetValue(at) is { } number)
        {
            var feeder = new Feeder(targets[0], result.GetValue(seed));
            var bytes = feeder.InputAt(number);
            await output.WriteLineAsync(Convert.ToHexStringLower(bytes));
            targets[0].Feed(bytes);
            return 0;
        }

        var clean = targets.Count == 0 || new Campaign(targets, result.GetValue(seed), output, result.GetValue(state))
            .Run(result.GetValue(inputs), stop);
        if ((name is null or "ports") && !stop.IsCancellationRequested && result.GetValue(frames) > 0)
        {
            clean &= await new PortFuzz(result.GetValue(seed), output, tls: false).RunAsync(result.GetValue(frames));
            clean &= await new PortFuzz(result.GetValue(seed), output, tls: true).RunAsync(result.GetValue(frames));
            clean &= await new SalusPortFuzz(result.GetValue(seed), output).RunAsync(result.GetValue(frames));
            clean &= await new ZooKeeperPortFuzz(result.GetValue(seed), output).RunAsync(result.GetValue(frames));
        }

        if ((name is null or "requests") && !stop.IsCancellationRequested && result.GetValue(requests) > 0)
            clean &= await new RequestFuzz(result.GetValue(seed), output) { Reach = result.GetValue(reach) }
                .RunAsync(result.GetValue(requests));
        await output.WriteLineAsync(clean ? "nothing found" : "FOUND");
        return clean ? 0 : 1;
    }
    finally
    {
        Directory.Delete(folder, recursive: true);
    }
});
return await root.Parse(args).InvokeAsync();
