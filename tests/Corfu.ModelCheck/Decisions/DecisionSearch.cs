using System.Collections.Immutable;
using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using Corfu.ModelCheck.Engine;

namespace Corfu.ModelCheck.Decisions;

/// <summary>Breadth first over decisions at the shipped sequencer.</summary>
public static class DecisionSearch
{
    public static ImmutableArray<(string Name, string About)> All =>
        [.. DecisionScenario.All.Select(scenario => (scenario.Name, scenario.About))];

    /// <summary>Mistakes of the processes, with the scenario that shows each.</summary>
    public static ImmutableArray<(string Flaw, string Scenario)> Flaws { get; } =
    [
        ("update-without-its-keys", "decisions-cells"), ("retry-keeps-its-ruling", "decisions-holes"),
        ("silence-is-a-ruling", "decisions-silent"), ("position-passed-on", "decisions-holes"),
        ("cells-by-process", "decisions-cells"), ("deletion-tells-its-streams", "decisions-group"),
    ];

    public static SearchResult Run(string name, int maxStates, string? flaw = null)
    {
        var clock = Stopwatch.StartNew();
        var mistake = flaw is null
            ? DecisionFlaw.None
            : Enum.GetValues<DecisionFlaw>().Single(one => Report.NameOf(one) == flaw);
        var first = new DecisionWorld(DecisionScenario.All.Single(one => one.Name == name), mistake);
        var seen = new HashSet<Guid> { KeyOf(first) };
        var level = new List<State> { new(first, null, default) };
        long count = 0;
        var depth = 0;
        for (; level.Count > 0 && seen.Count < maxStates; depth++)
        {
            var next = new List<State>();
            foreach (var state in level)
            {
                foreach (var move in state.World.Moves())
                {
                    count++;
                    var longer = new State(state.World.Apply(move), state, move);
                    if (longer.World.Violation is { } violation)
                        return new SearchResult(name, seen.Count, count, depth + 1, false, violation, longer.Tell(),
                            clock.Elapsed);
                    if (seen.Add(KeyOf(longer.World))) next.Add(longer);
                }

                if (seen.Count >= maxStates) break;
            }

            // A level that is not empty says that the search is not exhausted.
            level = seen.Count >= maxStates ? [level[0]] : next;
        }

        var exhausted = level.Count == 0;
        return new SearchResult(name, seen.Count, count, depth - (exhausted ? 1 : 0), exhausted, null, [],
            clock.Elapsed);
    }

    private static Guid KeyOf(DecisionWorld world) =>
        new(SHA256.HashData(Encoding.UTF8.GetBytes(world.Key())).AsSpan(0, 16));

    private sealed record State(DecisionWorld World, State? Before, DecisionMove Move)
    {
        public ImmutableArray<string> Tell()
        {
            var lines = new List<string>();
            for (var state = this; state.Before is not null; state = state.Before)
                lines.Insert(0, state.Before.World.Describe(state.Move));
            lines.AddRange(World.Describe());
            return [.. lines];
        }
    }
}
