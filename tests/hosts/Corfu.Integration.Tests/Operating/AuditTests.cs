using System.Text;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Integration.Tests.Operating;

public sealed class AuditTests
{
    private static readonly DateTimeOffset s_time = new(2026, 11, 26, 12, 0, 0, TimeSpan.Zero);

    [Fact]
    public void Chain_goes_on_over_restarts_and_files()
    {
        using var folder = new TempFolder();
        for (var run = 0; run < 3; run++)
        {
            using var writer = new AuditWriter(folder.Path, maxFileBytes: 2_000);
            for (var i = 0; i < 10; i++) writer.Append(Entry($"{run}.{i}"));
            writer.Sync();
        }

        var files = AuditFiles.In(folder.Path);
        Assert.InRange(files.Length, 2, AuditWriter.MaxFiles);
        var verdict = AuditFiles.Verify(files);
        Assert.Equal((30, (string?)null), (verdict.Lines, verdict.Fault));
        Assert.Equal("2.9", AuditFiles.Read(files[^1]).Last().What);
        if (OperatingSystem.IsWindows()) return;
        foreach (var file in files)
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file));
    }

    [Fact]
    public void Oldest_files_are_deleted_and_newer_files_stay_sound()
    {
        using var folder = new TempFolder();
        using (var writer = new AuditWriter(folder.Path, maxFileBytes: 600))
        {
            for (var i = 0; i < 100; i++) writer.Append(Entry($"{i}"));
        }

        var files = AuditFiles.In(folder.Path);
        Assert.Equal(AuditWriter.MaxFiles, files.Length);
        Assert.Null(AuditFiles.Verify(files).Fault);
        Assert.Equal("99", AuditFiles.Read(files[^1]).Last().What);
    }

    [Theory]
    [InlineData("removed", 4)]
    [InlineData("changed", 5)]
    [InlineData("added", 5)]
    [InlineData("swapped", 4)]
    [InlineData("garbage", 4)]
    public async Task Verification_names_the_line_after_the_damage(string how, int line)
    {
        using var folder = new TempFolder();
        using (var writer = new AuditWriter(folder.Path))
        {
            for (var i = 0; i < 8; i++) writer.Append(Entry($"{i}"));
        }

        var file = folder.File(AuditFiles.CurrentName);
        var lines = File.ReadAllLines(file).ToList();
        switch (how)
        {
            case "removed":
                lines.RemoveAt(3);
                break;
            case "changed":
                lines[3] = lines[3].Replace("billing", "nobody", StringComparison.Ordinal);
                break;
            case "added":
                lines.Insert(3, lines[3]);
                break;
            case "swapped":
                (lines[3], lines[4]) = (lines[4], lines[3]);
                break;
            default:
                lines[3] = "{";
                break;
        }

        File.WriteAllLines(file, lines);
        Assert.Contains($", line {line}: ", AuditFiles.Verify([file]).Fault, StringComparison.Ordinal);
        var tool = await CorfuTool.RunAsync("audit", "verify", file);
        Assert.Equal(1, tool.ExitCode);
        Assert.Contains($", line {line}: ", tool.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void File_removed_from_the_midst_is_noticed()
    {
        using var folder = new TempFolder();
        using (var writer = new AuditWriter(folder.Path, maxFileBytes: 600))
        {
            for (var i = 0; i < 20; i++) writer.Append(Entry($"{i}"));
        }

        var files = AuditFiles.In(folder.Path);
        File.Delete(files[2]);
        Assert.Contains($"{files[3]}, line 1: ", AuditFiles.Verify(files.RemoveAt(2)).Fault, StringComparison.Ordinal);
    }

    [Fact]
    public void Line_torn_by_a_crash_is_cut_and_the_chain_goes_on()
    {
        using var folder = new TempFolder();
        using (var writer = new AuditWriter(folder.Path)) writer.Append(Entry("0"));
        File.AppendAllText(folder.File(AuditFiles.CurrentName), "{\"time\":\"20");
        using (var writer = new AuditWriter(folder.Path))
        {
            writer.Append(Entry("1"));
            Assert.Equal(11, writer.TakeCut());
        }

        Assert.Equal((2, (string?)null), AuditFiles.Verify(AuditFiles.In(folder.Path)) is var verdict
            ? (verdict.Lines, verdict.Fault)
            : default);
    }

    [Fact]
    public async Task File_that_cannot_be_written_is_a_warning_and_no_failure()
    {
        using var folder = new TempFolder();
        Directory.CreateDirectory(folder.File(AuditFiles.CurrentName));
        var log = new AuditLog(folder.Path, "a", TimeProvider.System, NullLogger.Instance);
        log.Add("Start", null, "x");
        while (log.Fault is null) await Task.Delay(10, TestContext.Current.CancellationToken);
        Assert.StartsWith("The audit file cannot be written: ", log.Fault, StringComparison.Ordinal);
        log.Add("Stop", null, "x");
        await log.DisposeAsync();
    }

    [Fact]
    public async Task Warning_of_the_file_stays_until_a_line_is_written()
    {
        using var folder = new TempFolder();
        var path = folder.File(AuditFiles.CurrentName);
        Directory.CreateDirectory(path);
        var time = new TimeAhead();
        var log = new AuditLog(folder.Path, "a", time, NullLogger.Instance);
        log.Add("Start", null, "x");
        while (log.Fault is null) await Task.Delay(10, TestContext.Current.CancellationToken);
        // Meanwhile the log syncs, with no file to be synced.
        await Task.Delay(TimeSpan.FromSeconds(1.5), TestContext.Current.CancellationToken);
        Assert.NotNull(log.Fault);

        Directory.Delete(path);
        time.Advance(TimeSpan.FromSeconds(10));
        log.Add("Stop", null, "x");
        while (log.Fault is not null) await Task.Delay(10, TestContext.Current.CancellationToken);
        await log.DisposeAsync();
        Assert.Equal(["Stop", "Lost"], AuditFiles.Read(path).Select(entry => entry.Event));
    }

    [Fact]
    public void Writer_goes_on_after_a_full_disk()
    {
        Assert.SkipUnless(File.Exists("/dev/full"), "needs /dev/full");
        using var folder = new TempFolder();
        var path = folder.File(AuditFiles.CurrentName);
        File.CreateSymbolicLink(path, "/dev/full");
        using var writer = new AuditWriter(folder.Path);
        for (var i = 0; i < 3; i++) Assert.Throws<IOException>(() => writer.Append(Entry("refused")));
        File.Delete(path);
        writer.Append(Entry("taken"));
        Assert.Equal("taken", Assert.Single(AuditFiles.Read(path)).What);
    }

    [Fact]
    public async Task Trims_of_two_peers_have_separate_lines()
    {
        using var folder = new TempFolder();
        var unit = new NodeId(Guid.NewGuid());
        await using (var audit = NewAudit(folder))
        {
            var below = 0L;
            foreach (var name in (string[])["app", "app", "stolen", "app"])
                audit.Answered(unit, new TrimPrefixRequest(new Epoch(3), new LogPosition(++below)),
                    new Principal(AccessRole.Client, name), new AckResponse(Status.Ok, new Epoch(3)));
        }

        Assert.Equal([("app", "below 1"), ("stolen", "below 3"), ("app", "below 4")],
            AuditFiles.Read(folder.File(AuditFiles.CurrentName))
                .Select(entry => (entry.Who!.Name, entry.What.Split(',')[0])));
    }

    [Fact]
    public async Task Audited_role_has_the_bound_of_the_role()
    {
        using var folder = new TempFolder();
        await using var audit = NewAudit(folder);
        Assert.Equal(7, NodeAudit.Around(new SmallRole(), audit).MaxWaiting);
    }

    [Fact]
    public async Task Changes_at_a_node_are_audited_with_the_sender()
    {
        using var nodes = new LocalNodes();
        var address = TestPorts.Address();
        await nodes.InitAsync("a", address);
        var connection = $"corfu://{address}";
        (await CorfuTool.RunWithInputAsync("x\ny\nz\n", "log", "append", "--connect", connection, "--lines")).Require();
        (await CorfuTool.RunAsync("log", "trim", "--connect", connection, "--below", "2")).Require();
        (await CorfuTool.RunAsync("reconfigure", "auto", "--connect", connection, "off")).Require();
        await nodes.StopAsync("a");

        var shown = (await CorfuTool.RunAsync("audit", "show", "--dir", nodes.PathOf("a"))).Require();
        var entries = AuditFiles.In(nodes.PathOf("a")).SelectMany(AuditFiles.Read).ToList();
        Assert.Equal(entries.Count + 1, shown.Lines.Length);
        Assert.Equal("Start", entries[0].Event);
        Assert.Equal("Stop", entries[^1].Event);
        Assert.Contains(entries, entry => entry is { Event: "SetAutomation", What: "off", Who.Name: "127.0.0.1" });
        Assert.Contains(entries, entry => entry.Event == "TrimPrefix"
            && entry.What.StartsWith("below 2,", StringComparison.Ordinal));
        Assert.Equal("node", entries.First(entry => entry.Event == "SetAutomation").Who!.Role);
        (await CorfuTool.RunAsync("audit", "verify", nodes.PathOf("a"))).Require();
    }

    [Fact]
    public async Task History_with_an_audit_names_the_proposer_of_an_epoch()
    {
        await using var cluster = await ClusterProcesses.UpAsync(3, 2);
        (await CorfuTool.RunAsync("reconfigure", "set-replicas", "--connect", cluster.ConnectionString, "3")).Require();
        // Acceptors adopt a projection after the answer to its proposer.
        var began = TimeProvider.System.GetTimestamp();
        List<AuditEntry> sealing;
        do
        {
            Assert.True(TimeProvider.System.GetElapsedTime(began) < TimeSpan.FromSeconds(60));
            await Task.Delay(20);
            sealing = Directory.EnumerateDirectories(cluster.Folder).SelectMany(node => AuditFiles.In(node))
                .SelectMany(AuditFiles.Read).Where(entry => entry.Event is "Seal" or "Accept" or "Adopted").ToList();
        }
        while (!sealing.Exists(entry => entry is { Event: "Adopted", Epoch: 2, Who: not null }));

        var history = (await CorfuTool.RunAsync(
            "history", "--connect", cluster.ConnectionString, "--audit", cluster.Folder, "--count", "1")).Require();
        Assert.Contains("  node/127.0.0.1  ", history.Lines[1], StringComparison.Ordinal);
        Assert.Contains(sealing, entry => entry.Event == "Seal");
        Assert.Contains(sealing, entry => entry.Event == "Accept");
    }

    private static AuditEntry Entry(string what) => new(
        s_time, "a", "TrimPrefix", new AuditWho("client", "billing", "0A"), what, Encoding.ASCII.GetString("Ok"u8), 7);

    private static NodeAudit NewAudit(TempFolder folder) => new(
        new AuditLog(folder.Path, "a", TimeProvider.System, NullLogger.Instance), TimeProvider.System);

    private sealed class SmallRole : IRoleHandler
    {
        public NodeRole Role => NodeRole.Acceptor;

        public NodeId Id => default;

        public int MaxWaiting => 7;

        public void Handle(Request request, ReplyTo reply)
        {
        }
    }

    /// <summary>The system's clock, set forward.</summary>
    private sealed class TimeAhead : TimeProvider
    {
        private long _ahead;

        public override long GetTimestamp() => base.GetTimestamp() + Interlocked.Read(ref _ahead);

        public void Advance(TimeSpan by) =>
            Interlocked.Add(ref _ahead, (long)(by.TotalSeconds * TimestampFrequency));
    }
}
