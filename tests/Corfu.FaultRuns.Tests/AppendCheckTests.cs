using System.Globalization;
using Corfu.FaultRuns.Transactions;

namespace Corfu.FaultRuns.Tests;

/// <summary>Small histories with each anomaly: a check that cannot fail proves nothing.</summary>
public sealed class AppendCheckTests
{
    [Theory]
    [InlineData("Committed 0-9 a:x:1", "Committed 10-19 r:x:1 a:x:2 r:x:1,2 a:y:3", "Committed 20-29 r:x:1,2 r:y:3")]
    // Beside each other: either order will do.
    [InlineData("Committed 0-9 a:x:1", "Committed 0-9 r:x: a:y:3", "Committed 0-9 a:x:2")]
    // In doubt, and there; or not there.
    [InlineData("Committed 0-9 a:x:1", "InDoubt 5-6 a:x:2", "InDoubt 5-6 a:x:4", "Committed 50-59 r:x:1,2 a:y:3")]
    // In doubt, seen by itself alone, and not there.
    [InlineData("Committed 0-9 a:x:1 a:y:3", "InDoubt 5-6 a:x:4 r:x:1,4", "Committed 50-59 a:x:2")]
    // An aborted transaction may read the past, but one past.
    [InlineData("Committed 0-9 a:x:1 a:y:3", "Committed 10-19 a:x:2", "Aborted 20-29 r:x:1 r:y:3 a:y:7")]
    public void History_that_some_order_explains_is_accepted(params string[] history) =>
        Assert.Empty(Check("x:1,2 y:3", history));

    [Theory]
    // The second of each overwrote the first of the other.
    [InlineData(AnomalyKind.G0, "x:1,2 y:3,4", "Committed 0-9 a:x:1 a:y:4", "Committed 0-9 a:x:2 a:y:3")]
    [InlineData(AnomalyKind.G1a, "x:1", "Committed 0-9 a:x:1", "Aborted 0-9 a:x:2", "Committed 0-9 r:x:1,2")]
    [InlineData(AnomalyKind.G1a, "x:1,2", "Committed 0-9 a:x:1", "Aborted 0-9 a:x:2")]
    [InlineData(AnomalyKind.G1b, "x:1,2", "Committed 0-9 a:x:1 a:x:2", "Committed 0-9 r:x:1")]
    // Each read what the other wrote.
    [InlineData(AnomalyKind.G1c, "x:1 y:2", "Committed 0-9 a:x:1 r:y:2", "Committed 0-9 a:y:2 r:x:1")]
    // Read skew; a lost update.
    [InlineData(AnomalyKind.GSingle, "x:1 y:2", "Committed 0-9 a:x:1 a:y:2", "Committed 0-9 r:x:1 r:y:")]
    [InlineData(AnomalyKind.GSingle, "x:1,2", "Committed 0-9 r:x: a:x:1", "Committed 0-9 r:x: a:x:2")]
    // Write skew.
    [InlineData(AnomalyKind.G2, "x:1 y:2", "Committed 0-9 r:x: a:y:2", "Committed 0-9 r:y: a:x:1")]
    // The second of two reads in a transaction counts as well.
    [InlineData(AnomalyKind.GSingle, "x:1 y:2", "Committed 0-9 a:x:1 a:y:2", "Committed 0-9 r:x: r:x:1 r:y:")]
    // A fork: two readers disagree about what came first.
    [InlineData(AnomalyKind.G2, "x:1 y:2", "Committed 0-9 a:x:1", "Committed 0-9 a:y:2", "Committed 0-9 r:x:1 r:y:",
        "Committed 0-9 r:x: r:y:2")]
    [InlineData(AnomalyKind.GSingle, "x:1 y:2", "Committed 0-9 a:x:1 a:y:2", "Aborted 20-29 r:x:1 r:y: a:x:9")]
    // A read that is too old; a write that came before what had ended.
    [InlineData(AnomalyKind.RealTime, "x:1", "Committed 0-9 a:x:1", "Committed 10-19 r:x:")]
    [InlineData(AnomalyKind.RealTime, "x:2,1", "Committed 0-9 a:x:1", "Committed 10-19 a:x:2")]
    // Even one that was aborted cannot have read what began later.
    [InlineData(AnomalyKind.RealTime, "x:1", "Aborted 0-9 r:x:1", "Committed 10-19 a:x:1")]
    [InlineData(AnomalyKind.Internal, "x:1", "Committed 0-9 a:x:1 r:x:")]
    [InlineData(AnomalyKind.Internal, "x:1", "Committed 0-9 a:x:1", "Committed 0-9 r:x: r:x:1")]
    [InlineData(AnomalyKind.Order, "x:1,2", "Committed 0-9 a:x:1", "Committed 0-9 a:x:2", "Committed 0-9 r:x:2,1")]
    [InlineData(AnomalyKind.LostAppend, "x:1", "Committed 0-9 a:x:1 a:y:2")]
    [InlineData(AnomalyKind.LostAppend, "x:1", "InDoubt 0-9 a:x:1 a:y:2")]
    [InlineData(AnomalyKind.LostAppend, "x:1", "Committed 0-9 a:x:1", "InDoubt 0-9 a:x:2", "Committed 20-29 r:x:1,2")]
    [InlineData(AnomalyKind.Duplicate, "x:1,1", "Committed 0-9 a:x:1")]
    [InlineData(AnomalyKind.Duplicate, "x:1 y:1", "Committed 0-9 a:x:1", "Committed 0-9 a:y:1")]
    [InlineData(AnomalyKind.Invented, "x:1,2", "Committed 0-9 a:x:1")]
    [InlineData(AnomalyKind.Invented, "x:1", "Committed 0-9 a:x:1", "Committed 0-9 r:x:1,2")]
    public void An_anomaly_is_found_and_named(AnomalyKind kind, string lists, params string[] history) =>
        Assert.Contains(Check(lists, history), a => a.Kind == kind);

    [Fact]
    public void Long_circle_is_found_once_and_reported_with_reasons()
    {
        // Each reads one list empty and appends to the next.
        const int Length = 5000;
        var lists = string.Join(' ', Enumerable.Range(0, Length).Select(i => $"l{i}:{i}"));
        var history = Enumerable.Range(0, Length).Select(i => $"Committed 0-9 r:l{i}: a:l{(i + 1) % Length}:{(i + 1)
            % Length}");
        var found = Assert.Single(Check(lists, [.. history]));
        Assert.Equal(AnomalyKind.G2, found.Kind);
        Assert.Contains("-rw->", found.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void History_is_read_as_written_and_a_torn_end_counts_as_in_doubt()
    {
        var folder = Directory.CreateTempSubdirectory("corfu-tx-history");
        try
        {
            var file = Path.Combine(folder.FullName, "c1.history");
            TxStep[] steps = [new(false, "0/1.0", [7, 8]), new(true, "2/0.3", [9]), new(false, "1/0.0", [])];
            File.WriteAllText(file, string.Join('\n', TxHistoryFile.Begin("c1-1", 5, steps),
                TxHistoryFile.End("c1-1", 9, TxFate.Committed), TxHistoryFile.Begin("c1-2", 10, steps[..1]),
                TxHistoryFile.End("c1-2", 12, TxFate.InDoubt), TxHistoryFile.Begin("c1-3", 13, steps[1..2]),
                "unexpected\tboom", TxHistoryFile.End("c1-3", 15, TxFate.Aborted)[..^2]));
            List<string> unexpected = [];
            var read = TxHistoryFile.Read([file], unexpected);
            Assert.Equal(["c1: boom"], unexpected);
            Assert.Equal(
                [("c1-1", 5L, 9L, TxFate.Committed), ("c1-2", 10, long.MaxValue, TxFate.InDoubt),
                    ("c1-3", 13, long.MaxValue, TxFate.InDoubt)],
                read.Select(t => (t.Name, t.Began, t.Ended, t.Fate)));
            Assert.Equal(steps.Select(s => (s.IsAppend, s.List, string.Join(',', s.Values))),
                read[0].Steps.Select(s => (s.IsAppend, s.List, string.Join(',', s.Values))));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    // "FATE BEGAN-ENDED STEP..."; a step is "a:LIST:VALUE" or "r:LIST:VALUE,VALUE...".
    private static IReadOnlyList<Anomaly> Check(string lists, params string[] history)
    {
        List<TxRecord> transactions = [];
        foreach (var line in history)
        {
            var words = line.Split(' ');
            var times = words[1].Split('-').Select(t => long.Parse(t, CultureInfo.InvariantCulture)).ToArray();
            var fate = Enum.Parse<TxFate>(words[0]);
            var ended = fate == TxFate.InDoubt ? long.MaxValue : times[1];
            transactions.Add(new TxRecord($"t{transactions.Count + 1}", times[0], ended, fate,
                [.. words[2..].Select(Step)]));
        }

        return AppendCheck.Check(transactions, lists.Split(' ').Select(l => Step("r:" + l))
            .ToDictionary(s => s.List, s => s.Values));
    }

    private static TxStep Step(string text)
    {
        var parts = text.Split(':');
        return new TxStep(parts[0] == "a", parts[1], [.. parts[2].Split(',', StringSplitOptions.RemoveEmptyEntries)
            .Select(v => long.Parse(v, CultureInfo.InvariantCulture))]);
    }
}
