namespace Corfu.Simulation.Kernel.Seeds;

/// <summary>Hunts planted bugs by name, all of them, or for a table of docs/testing-simulator.md.</summary>
public static class HuntCommand
{
    /// <summary>Hunts every bug of the list.</summary>
    public const string All = "all";

    /// <summary>The table's medians are taken from so many starts.</summary>
    public const int TableStarts = 5;

    /// <summary>A bug that none of so many seeds shows is not found.</summary>
    public const int MostSeeds = 2000;

    private const string NoneInThisBuild = "no planted bugs in this build: build with -p:Planted=true";

    /// <summary>Switches a bug on in this process. False, with a message, where the build has none.</summary>
    public static bool Switch(string? name, TextWriter error)
    {
        if (PlantedSwitch.Turn(name)) return true;
        error.WriteLine(NoneInThisBuild);
        return false;
    }

    /// <param name="which">Names of bugs with commas between, <c>all</c>, or <c>table</c>: all of them from several
    /// starts, and a table.</param>
    /// <param name="start">First seed for every bug; null begins near the seed where each was found last, and the table
    /// at 1.</param>
    /// <param name="most">Seeds per bug and start; null: <see cref="MostSeeds"/>.</param>
    /// <param name="workers">Bugs hunted at once.</param>
    public static int Run(
        IReadOnlyList<PlantedBug> all, string which, ulong? start, int? most, int workers, TextWriter output)
    {
        if (!PlantedSwitch.IsBuiltIn)
        {
            output.WriteLine(NoneInThisBuild);
            return 2;
        }

        bool table = which == "table";
        PlantedBug[] bugs = table || which == All ? [.. all] : [.. all.Where(b => which.Split(',').Contains(b.Name))];
        if (bugs.Length == 0)
        {
            output.WriteLine(
                $"no planted bug is called {which}; there are: {string.Join(", ", all.Select(b => b.Name))}");
            return 2;
        }

        // Starts that lie apart: no hunt meets another's seeds unless it takes very long.
        ulong[] starts = table
            ? [.. Enumerable.Range(0, TableStarts).Select(i => (start ?? 1) + ((ulong)i * 10_000))]
            : start is { } one ? [one] : [];
        var hunt = new BugHunt(starts, most ?? MostSeeds, workers, output);
        int found = hunt.Run(bugs);
        if (table) WriteTable(bugs, hunt.Needed, output);
        output.WriteLine($"planted {bugs.Length} found {found}");
        return found == bugs.Length ? 0 : 1;
    }

    private static void WriteTable(PlantedBug[] bugs, IReadOnlyDictionary<string, List<int>> needed, TextWriter output)
    {
        output.WriteLine(
            $"| planted bug | rule | what it does | checker | median seeds (most) of {TableStarts} starts |");
        output.WriteLine("|---|---|---|---|---|");
        foreach (PlantedBug bug in bugs)
        {
            int[] seeds = needed.TryGetValue(bug.Name, out List<int>? all) ? [.. all.Order()] : [];
            string median = seeds.Length == 0 ? "not found" : $"{seeds[seeds.Length / 2]} ({seeds[^1]})";
            output.WriteLine($"| `{bug.Name}` | {bug.Rule} | {bug.What} | `{bug.Checker}` | {median} |");
        }
    }
}
