using System.Globalization;
using NamespaceSample.History;
using NamespaceSample.Model;
using NamespaceSample.Replay;
using NamespaceSample.Service;

namespace NamespaceSample.Processes;

/// <summary>Compares the namespace in the log with what the history must come to.</summary>
internal static class VerifierMode
{
    public const string Name = "verifier";

    private const int MaxDifferences = 10;

    /// <summary>Prints the differences, and last the verdict.</summary>
    public static async Task<int> RunAsync(
        string file, string? expected, string connection, CancellationToken cancellationToken)
    {
        IReadOnlyList<HistoryChange> changes = HistoryReader.ReadFile(file);
        await using NamespaceClient client =
            await NamespaceClient.ConnectAsync(connection, [], NamespaceService.Options, cancellationToken);
        NamespaceState state = await client.Service.ReadAllAsync(cancellationToken);
        var differences = new ReplayCheck(state).Find(
            HistoryModel.Play(file, changes), expected is null ? null : HistoryReader.ReadPaths(expected),
            changes.Count);
        foreach (string difference in differences.Take(MaxDifferences)) await Console.Out.WriteLineAsync(difference);
        if (differences.Count > MaxDifferences)
            await Console.Out.WriteLineAsync($"... and {differences.Count - MaxDifferences} more");
        int paths = state.Entries.Count(static pair => !pair.Value.IsDirectory);
        long start = (await client.Runtime.Log.ReadTrimPointAsync(cancellationToken)).Released.Offset;
        await Console.Out.WriteLineAsync(new Verdict(paths, differences.Count == 0, start).ToString());
        return 0;
    }

    /// <param name="Paths">Files in the log.</param>
    /// <param name="LogStart">Position where the log began when the namespace was opened.</param>
    public sealed record Verdict(int Paths, bool IsMatch, long LogStart)
    {
        private const string Prefix = "verdict";

        public static Verdict? TryParse(string line) =>
            line.Split(' ') is [Prefix, var paths, var match, var start]
                ? new Verdict(int.Parse(paths, CultureInfo.InvariantCulture), bool.Parse(match),
                    long.Parse(start, CultureInfo.InvariantCulture))
                : null;

        public override string ToString() =>
            string.Create(CultureInfo.InvariantCulture, $"{Prefix} {Paths} {IsMatch} {LogStart}");
    }
}
