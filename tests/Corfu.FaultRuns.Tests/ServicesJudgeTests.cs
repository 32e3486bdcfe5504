using Corfu.FaultRuns.Services.Clients;
using Corfu.FaultRuns.Services.Judging;

namespace Corfu.FaultRuns.Tests;

/// <summary>Histories of services that break one promise each: the judges count it, and nothing else.</summary>
public sealed class ServicesJudgeTests
{
    private static readonly ServicesAudit s_audit = new(
        new Dictionary<long, IReadOnlyDictionary<string, string>>
        {
            [2] = new Dictionary<string, string> { ["k0"] = "a-1" },
            [3] = new Dictionary<string, string> { ["k0"] = "a-2", ["k1"] = "a-2" },
        },
        new Dictionary<long, IReadOnlyList<string>> { [0] = ["a-1", "a-2"] },
        new Dictionary<string, UserCount> { ["a"] = new(2, 2, 0) });

    private static readonly string[] s_lines =
    [
        "put a-1 10 k0", "done a-1 20 2", "put a-2 30 k0,k1", "done a-2 40 3", "get 50 60 3 k0=a-2_k1=a-2_k2=",
        "acked 0 10 0 a-1", "acked 0 20 1 a-2", "ended 0 1", "confirmed 0 30 1", "entry 0 1 a-2",
        "command a 1", "ran a 10 1 1", "command a 2", "ran a 20 2 2", "query 30 40 2",
    ];

    [Fact]
    public void History_that_keeps_all_promises_is_good()
    {
        var verdict = Judge([]);
        Assert.True(verdict.IsGood, string.Join('\n', verdict.Told(10)));
        Assert.StartsWith("operations=9 ", verdict.ToString());
    }

    [Theory]
    [InlineData("ledgers lost", "acked 0 40 1 a-3")]
    [InlineData("ledgers lost", "entry 0 0 a-2")]
    [InlineData("ledgers lost", "confirmed 0 40 2")]
    [InlineData("ledgers after the fence", "acked 0 40 2 a-3")]
    [InlineData("ledgers after the fence", "ended 0 0", "ended 0 2")]
    [InlineData("ledgers stale", "confirmed 0 40 0")]
    [InlineData("store lost", "put a-3 70 k0", "done a-3 80 4")]
    [InlineData("store twice", "void a-2")]
    [InlineData("store stale", "get 50 60 2 k0=a-1")]
    [InlineData("store stale", "get 50 60 3 k0=a-1")]
    [InlineData("store stale", "get 50 60 3 k2=a-1")]
    [InlineData("machines lost", "ran a 50 3 3")]
    [InlineData("machines stale", "query 50 60 1")]
    [InlineData("machines diverged", "stopped MachineDivergedException:_results_differ")]
    public void Broken_promise_is_counted(string kind, params string[] lines)
    {
        var verdict = Judge(lines);
        Assert.False(verdict.IsGood);
        Assert.All(verdict.Told(10), told => Assert.StartsWith($"{kind}: ", told));
    }

    [Fact]
    public void Write_that_begins_when_a_later_one_is_told_is_stale()
    {
        var history = History(["get 2 5 3 k0=a-2"]);
        Assert.Contains("store lost=0 twice=0 stale=2", ServicesVerdict.Of(history, s_audit).ToString());
    }

    [Fact]
    public void Value_that_stands_twice_is_counted()
    {
        var changes = new Dictionary<long, IReadOnlyDictionary<string, string>>(s_audit.Changes)
        {
            [4] = new Dictionary<string, string> { ["k0"] = "a-1" },
        };
        var audit = s_audit with
        {
            Changes = changes,
            Ledgers = new Dictionary<long, IReadOnlyList<string>>(s_audit.Ledgers) { [1] = ["a-2"] },
            Users = new Dictionary<string, UserCount> { ["a"] = new(3, 2, 1) },
        };
        var verdict = $"{ServicesVerdict.Of(History([]), audit)}";
        Assert.Contains("ledgers lost=0 twice=1", verdict);
        Assert.Contains("store lost=0 twice=1", verdict);
        Assert.Contains("machines lost=0 twice=2", verdict);
    }

    [Fact]
    public void Torn_last_line_is_passed_over()
    {
        var file = Path.GetTempFileName();
        try
        {
            File.WriteAllText(file, "query\t1\t2\t3\nquery\t1");
            Assert.Single(ServicesHistory.Read([file]).Queries);
        }
        finally
        {
            File.Delete(file);
        }
    }

    private static ServicesVerdict Judge(string[] more) => ServicesVerdict.Of(History(more), s_audit);

    private static ServicesHistory History(string[] more)
    {
        var history = new ServicesHistory();
        foreach (var line in s_lines.Concat(more))
            history.Add("a", line.Replace(' ', '\t').Replace('_', ' '));
        return history;
    }
}
