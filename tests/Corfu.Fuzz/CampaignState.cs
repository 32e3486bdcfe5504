using System.Globalization;

namespace Corfu.Fuzz;

/// <summary>How far a campaign has come, in a file of its own, so that a long one can be run in pieces: a line per
/// decoder.</summary>
internal static class CampaignState
{
    public static void Load(string path, int seed, IEnumerable<Feeder> feeders)
    {
        if (!File.Exists(path)) return;
        var lines = File.ReadAllLines(path);
        if (lines[0] != Head(seed)) throw new InvalidDataException($"{path} belongs to another seed.");
        var known = lines.Skip(1).Select(l => l.Split('\t')).ToDictionary(p => p[0]);
        foreach (var feeder in feeders)
        {
            if (!known.TryGetValue(feeder.Target.Name, out var parts)) continue;
            feeder.GoOn(Number(parts[1]), Number(parts[2]), Number(parts[3]), TimeSpan.FromTicks(Number(parts[4])));
        }
    }

    public static void Save(string path, int seed, IEnumerable<Feeder> feeders)
    {
        var fresh = path + ".new";
        File.WriteAllLines(fresh, [Head(seed), .. feeders.Select(f =>
            string.Join('\t', f.Target.Name, Text(f.Inputs), Text(f.Accepted), Text(f.MostAllocated),
                Text(f.Slowest.Ticks)))]);
        File.Move(fresh, path, overwrite: true);
    }

    private static string Head(int seed) => $"seed {Text(seed)}";

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}
