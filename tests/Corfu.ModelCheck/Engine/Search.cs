using System.Collections.Immutable;
using System.Diagnostics;

namespace Corfu.ModelCheck.Engine;

/// <summary>Breadth first, so that the first violation found is one with the shortest way to it.</summary>
public static class Search
{
    /// <param name="maxStates">Ends there, not exhausted.</param>
    /// <param name="progress">Told the depth and the states at the end of each level.</param>
    public static SearchResult Run(Scenario scenario, int maxStates, Action<int, int>? progress = null)
    {
        var clock = Stopwatch.StartNew();
        var model = new Model(scenario);
        var seen = new StateSet();
        var width = model.Width;
        var level = new List<int[]>();
        var numbers = new List<int>();
        var first = new int[width];
        model.First(first);
        seen.Add(first, -1, 0);
        level.Add(first);
        numbers.Add(0);
        var moves = new List<Move>();
        long count = 0;
        var depth = 0;
        var scratch = new int[width];
        for (; level.Count > 0 && seen.Count < maxStates; depth++)
        {
            var nextLevel = new List<int[]>();
            var nextNumbers = new List<int>();
            for (var i = 0; i < level.Count && seen.Count < maxStates; i++)
            {
                model.Moves(level[i], moves);
                for (var m = 0; m < moves.Count; m++)
                {
                    count++;
                    level[i].CopyTo(scratch, 0);
                    if (model.Apply(scratch, moves[m]) is { } violation)
                        return Found(scenario, model, seen.PathTo(numbers[i]), m, violation, seen.Count, count,
                            clock.Elapsed);
                    if (!seen.Add(scratch, numbers[i], m)) continue;
                    nextLevel.Add([.. scratch]);
                    nextNumbers.Add(seen.Count - 1);
                }
            }

            progress?.Invoke(depth + 1, seen.Count);
            (level, numbers) = (nextLevel, nextNumbers);
        }

        return new SearchResult(scenario.Name, seen.Count, count, depth - (level.Count == 0 ? 1 : 0), level.Count == 0,
            null, [], clock.Elapsed);
    }

    private static SearchResult Found(
        Scenario scenario, Model model, IReadOnlyList<int> path, int last, string violation, long states, long count,
        TimeSpan time)
    {
        var trace = ImmutableArray.CreateBuilder<string>();
        var state = new int[model.Width];
        var moves = new List<Move>();
        model.First(state);
        foreach (var m in path.Append(last))
        {
            model.Moves(state, moves);
            trace.Add(model.Describe(state, moves[m]));
            model.Apply(state, moves[m]);
        }

        trace.AddRange(model.Describe(state));
        return new SearchResult(scenario.Name, states, count, path.Count + 1, false, violation, trace.ToImmutable(),
            time);
    }
}
