using System.Collections.Immutable;
using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using Corfu.ModelCheck.Engine;

namespace Corfu.ModelCheck.Chains;

/// <summary>Breadth first over the shipped cores of a chain. Cores are no values, so a state is its way from the
/// beginning, repeated; its key is a hash.</summary>
public static class ChainSearch
{
    public static ImmutableArray<(string Name, string About)> All =>
        [.. ChainScenario.All.Select(scenario => (scenario.Name, scenario.About))];

    public static SearchResult Run(string name, int maxStates)
    {
        var clock = Stopwatch.StartNew();
        var scenario = ChainScenario.All.Single(one => one.Name == name);
        var prologue = ChainWorld.Prologue();
        ChainWorld Begin() => new(scenario, prologue.Disks, prologue.Directory);

        var seen = new HashSet<Guid> { Key(Begin()) };
        var level = new List<Way> { new(null, default) };
        long count = 0;
        var depth = 0;
        for (; level.Count > 0 && seen.Count < maxStates; depth++)
        {
            var next = new List<Way>();
            foreach (var way in level)
            {
                var moves = way.Repeat(Begin()).Moves();
                foreach (var move in moves)
                {
                    count++;
                    var world = way.Repeat(Begin());
                    world.Apply(move);
                    var longer = new Way(way, move);
                    if (world.Violation is { } violation)
                        return new SearchResult(name, seen.Count, count, depth + 1, false, violation,
                            longer.Tell(Begin()), clock.Elapsed);
                    if (seen.Add(Key(world))) next.Add(longer);
                }

                if (seen.Count >= maxStates) break;
            }

            // A level that is not empty says that the search is not exhausted.
            level = seen.Count >= maxStates ? [new Way(null, default)] : next;
        }

        var exhausted = level.Count == 0;
        return new SearchResult(name, seen.Count, count, depth - (exhausted ? 1 : 0), exhausted, null, [],
            clock.Elapsed);
    }

    private static Guid Key(ChainWorld world) =>
        new(SHA256.HashData(Encoding.UTF8.GetBytes(world.Key())).AsSpan(0, 16));

    private sealed record Way(Way? Before, ChainMove Move)
    {
        public ChainWorld Repeat(ChainWorld world)
        {
            foreach (var move in Steps()) world.Apply(move);
            return world;
        }

        public ImmutableArray<string> Tell(ChainWorld world)
        {
            var lines = ImmutableArray.CreateBuilder<string>();
            foreach (var move in Steps())
            {
                lines.Add(world.Describe(move));
                world.Apply(move);
            }

            lines.AddRange(world.Describe());
            return lines.ToImmutable();
        }

        private Stack<ChainMove> Steps()
        {
            var steps = new Stack<ChainMove>();
            for (var way = this; way.Before is not null; way = way.Before) steps.Push(way.Move);
            return steps;
        }
    }
}
