using Corfu.FaultRuns.Checks;
using Corfu.FaultRuns.Clients;

namespace Corfu.FaultRuns.Tests;

/// <summary>Errors planted in a history: a checker that cannot fail proves nothing.</summary>
public sealed class HistoryCheckTests : IDisposable
{
    private static readonly string[] s_history =
    [
        "append\tc1-1\t10", "appended\tc1-1\t20\t0\t1",
        "append\tc1-2\t30", "appended\tc1-2\t40\t2\t1",
        "append\tc1-3\t50", "refused\tc1-3\t60\tno room",
        "append\tc1-4\t55", "unknown\tc1-4\t80\t3\t1",
        "read\t45\t50\t2\tdata c1-2", "read\t5\t8\t2\tunwritten", "read\t70\t75\t1\tjunk",
        "check\t45\t48\t3",
        Play("c1-1", 0), $"synced\t{Stream("c1-1")}\t4\t85\t90",
        "appended\tc1-", // torn by a kill
    ];

    private static readonly string[] s_audit =
    [
        "tail\t4", "log\t0\tdata c1-1", "log\t1\tjunk", "log\t2\tdata c1-2", "log\t3\tjunk",
        StreamLine("c1-1", 0), StreamLine("c1-2", 2), "compared\t4\t2", "end",
    ];

    private readonly string _folder = Directory.CreateTempSubdirectory("corfu-history").FullName;

    [Fact]
    public void A_history_that_holds_is_not_objected_to() => Assert.Empty(Check(s_history, s_audit));

    [Theory]
    [InlineData("log\t2\tdata c1-2", "log\t2\tjunk", "the final log has Junk")]
    [InlineData("log\t2\tdata c1-2", "log\t2\tdata damaged", "and no client appended it")]
    [InlineData("log\t3\tjunk", "log\t3\tdata c1-3", "refused, but at 3")]
    [InlineData("log\t3\tjunk", "log\t3\tdata c1-1", "at 0 and again at 3")]
    [InlineData("log\t3\tjunk", "log\t3\tunwritten", "position 3 is still a hole")]
    [InlineData("compared\t4\t2", "replica\t3\tdiffers", "replicas at 3")]
    [InlineData("end", "", "did not come to its end")]
    public void Fault_in_the_log_is_found(string line, string planted, string told) =>
        Assert.Contains(Check(s_history, [.. s_audit.Select(l => l == line ? planted : l)]),
            v => v.Contains(told, StringComparison.Ordinal));

    [Theory]
    [InlineData("append\tc1-1\t10", "append\tc1-1\t45", "was acknowledged, and stands before ")]
    [InlineData("read\t45\t50\t2\tdata c1-2", "read\t45\t50\t2\tjunk", "and Junk")]
    [InlineData("read\t5\t8\t2\tunwritten", "read\t45\t48\t2\tunwritten", "after a value had been seen there")]
    [InlineData("check\t45\t48\t3", "check\t45\t48\t2", "was told the tail 2")]
    [InlineData("appended\tc1-2\t40\t2\t1", "appended\tc1-2\t40\t0\t1", "position 0 was acknowledged to")]
    [InlineData("check\t45\t48\t3", "unexpected\t45\t48\tboom", "unexpected: boom")]
    public void Wrong_answer_to_a_client_is_found(string line, string planted, string told) =>
        Assert.Contains(Check([.. s_history.Select(l => l == line ? planted : l)], s_audit),
            v => v.Contains(told, StringComparison.Ordinal));

    [Fact]
    public void A_follower_that_missed_an_entry_is_found()
    {
        Assert.Contains(Check([.. s_history.Where(l => l != Play("c1-1", 0))], s_audit),
            v => v.Contains("position 0 was skipped", StringComparison.Ordinal));
        Assert.Contains(Check(s_history, [.. s_audit.Where(l => l != StreamLine("c1-2", 2))]),
            v => v.Contains("position 2 was skipped", StringComparison.Ordinal));
    }

    [Fact]
    public void Entry_with_a_changed_byte_has_no_owner()
    {
        var bytes = EntryText.Make("c1-17");
        Assert.Equal("c1-17", EntryText.NameOf(bytes));
        bytes[^1] ^= 1;
        Assert.Null(EntryText.NameOf(bytes));
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    private IReadOnlyList<string> Check(string[] history, string[] audit)
    {
        var (historyFile, auditFile) = (Path.Combine(_folder, "c1.history"), Path.Combine(_folder, "audit"));
        File.WriteAllLines(historyFile, history);
        File.WriteAllLines(auditFile, audit);
        var check = new HistoryCheck();
        check.Load([historyFile], auditFile);
        check.Check();
        Assert.Equal(check.Told.Count, check.Violations);
        return check.Told;
    }

    private static ulong Stream(string id) => EntryText.StreamOf(id).Value;

    private static string Play(string id, long position) => $"play\t{Stream(id)}\t{position}\t{id}";

    private static string StreamLine(string id, long position) => $"stream\t{Stream(id)}\t{position}\t{id}";
}
