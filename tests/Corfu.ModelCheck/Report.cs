using System.Collections.Immutable;
using Corfu.ModelCheck.Chains;
using Corfu.ModelCheck.Decisions;
using Corfu.ModelCheck.Engine;
using Corfu.ModelCheck.Processes;
using Corfu.Simulation.Kernel;

namespace Corfu.ModelCheck;

/// <summary>Runs searches and tells about them, in words for people; the last line is for programs.</summary>
public static class Report
{
    // Each state of a chain is made by repeating its way.
    private const int MaxChainStates = 200_000;

    public static int List(TextWriter output)
    {
        foreach (var scenario in Scenarios.All()) output.WriteLine($"{scenario.Name,-16}{scenario.About}");
        foreach (var (name, about) in ChainSearch.All.Concat(DecisionSearch.All))
            output.WriteLine($"{name,-17}{about}");
        output.WriteLine();
        foreach (var flaw in Flaws) output.WriteLine(NameOf(flaw));
        foreach (var (flaw, _) in DecisionSearch.Flaws) output.WriteLine(flaw);
        return 0;
    }

    public static int All(string? only, int maxStates, TextWriter output)
    {
        var results = new List<SearchResult>();
        foreach (var scenario in Chosen(Flaw.None, only))
        {
            var result = Search.Run(scenario, maxStates);
            results.Add(result);
            Tell(result, output);
            output.Flush();
        }

        foreach (var (name, _) in ChainSearch.All.Where(one => only is null || one.Name == only))
        {
            results.Add(ChainSearch.Run(name, Math.Min(maxStates, MaxChainStates)));
            Tell(results[^1], output);
            output.Flush();
        }

        foreach (var (name, _) in DecisionSearch.All.Where(one => only is null || one.Name == only))
        {
            results.Add(DecisionSearch.Run(name, maxStates));
            Tell(results[^1], output);
            output.Flush();
        }

        if (results.Count == 0) return Unknown(only, output);
        var violations = results.Count(r => r.Violation is not null);
        output.WriteLine(
            $"states {results.Sum(r => r.States)} depth {results.Max(r => r.Depth)} violations {violations}");
        return violations == 0 ? 0 : 1;
    }

    public static int Planted(string name, string? only, int maxStates, TextWriter output)
    {
        List<(string Name, Func<SearchResult?> Hunt)> hunts =
        [
            .. Flaws.Select(flaw => (NameOf(flaw), (Func<SearchResult?>)(() => Hunt(flaw, only, maxStates)))),
            .. DecisionSearch.Flaws.Select(one => (one.Flaw,
                (Func<SearchResult?>)(() => DecisionSearch.Run(only ?? one.Scenario, maxStates, one.Flaw)))),
        ];
        hunts.RemoveAll(hunt => name is not "all" && hunt.Name != name);
        if (hunts.Count == 0) return PlantedInProduct(name, only, maxStates, output);
        var missed = 0;
        foreach (var (flaw, hunt) in hunts)
        {
            var found = hunt() is { Violation: not null } result ? result : null;
            if (found is null) missed++;
            output.WriteLine(
                $"{flaw,-27}{(found is null ? "NOT FOUND" : $"found in {found.Scenario} after {found.States} "
                + $"states, {found.Depth} steps: {found.Violation}")}");
            if (found is not null && hunts.Count == 1) Trace(found, output);
            output.Flush();
        }

        output.WriteLine($"planted {hunts.Count} missed {missed}");
        return missed == 0 ? 0 : 1;
    }

    // The cores of chains and the sequencer are the product's, and so are their bugs.
    private static int PlantedInProduct(string name, string? only, int maxStates, TextWriter output)
    {
        if (!PlantedSwitch.Turn(name))
        {
            output.WriteLine($"{name}: a mistake of the product needs a build with -p:Planted=true");
            return 2;
        }

        foreach (var (scenario, isChain) in ChainSearch.All.Select(one => (one.Name, true))
            .Concat(DecisionSearch.All.Select(one => (one.Name, false)))
            .Where(one => only is null || one.Name.StartsWith(only, StringComparison.Ordinal)))
        {
            var found = isChain
                ? ChainSearch.Run(scenario, Math.Min(maxStates, MaxChainStates))
                : DecisionSearch.Run(scenario, maxStates);
            if (found.Violation is null) continue;
            output.WriteLine(
                $"{name,-24}found in {scenario} after {found.States} states, {found.Depth} steps: {found.Violation}");
            Trace(found, output);
            output.WriteLine("planted 1 missed 0");
            return 0;
        }

        output.WriteLine($"{name,-24}NOT FOUND");
        output.WriteLine("planted 1 missed 1");
        return 1;
    }

    /// <summary>The scenario in which the flaw shows with the fewest steps, or null.</summary>
    public static SearchResult? Hunt(Flaw flaw, string? only, int maxStates)
    {
        SearchResult? best = null;
        foreach (var scenario in Chosen(flaw, only))
        {
            var result = Search.Run(scenario, maxStates);
            if (result.Violation is not null && (best is null || result.Depth < best.Depth)) best = result;
        }

        return best;
    }

    public static string NameOf<T>(T flaw)
        where T : struct, Enum =>
        string.Concat(flaw.ToString()
            .Select((c, i) => char.IsUpper(c) ? (i == 0 ? "" : "-") + char.ToLowerInvariant(c) : c.ToString()));

    private static ImmutableArray<Flaw> Flaws => [.. Enum.GetValues<Flaw>().Where(f => f != Flaw.None)];

    private static IEnumerable<Scenario> Chosen(Flaw flaw, string? only) =>
        Scenarios.All(flaw).Where(s => only is null || s.Name == only);

    private static void Tell(SearchResult result, TextWriter output)
    {
        var end = result.Violation is not null ? "VIOLATION" : result.Exhausted ? "exhausted" : "bound reached";
        output.WriteLine(
            $"{result.Scenario,-16}{result.States,10} states {result.Moves,11} moves  depth {result.Depth,3}  "
            + $"{result.Time.TotalSeconds,6:0.0} s  {end}");
        if (result.Violation is not null) Trace(result, output);
    }

    private static void Trace(SearchResult result, TextWriter output)
    {
        for (var i = 0; i < result.Trace.Length; i++)
            output.WriteLine(i < result.Depth ? $"  {i + 1,3}. {result.Trace[i]}" : $"       {result.Trace[i]}");
        output.WriteLine($"  VIOLATION {result.Violation}");
    }

    private static int Unknown(string? name, TextWriter output)
    {
        output.WriteLine($"{name}: no such name; --list shows them");
        return 2;
    }
}
