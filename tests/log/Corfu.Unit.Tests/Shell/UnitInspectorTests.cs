using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Storage;

namespace Corfu.Unit.Tests;

/// <summary>The offline check: finds what is damaged or lost, and changes nothing.</summary>
public sealed class UnitInspectorTests : IDisposable
{
    private readonly TempFolder _folder = new();

    private string Log => Path.Combine(_folder.Path, "a", "unit", "log", "log.0");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task A_sound_unit_is_clean_and_summed_up()
    {
        await FillAsync();
        var unit = Assert.Single(UnitInspector.Find(_folder.Path));
        var report = await UnitInspector.CheckAsync(unit);
        Assert.True(report.IsClean);
        Assert.Equal((20L, 20L, 5L, 1L), (report.Pages, report.End.Offset, report.TrimMark.Offset, report.Trimmed));
        Assert.Equal(new Epoch(2), report.Installed);
        Assert.True(report.LogEnd >= report.DurableMark);
        Assert.False(report.TornTail);
    }

    [Fact]
    public async Task A_record_begun_behind_the_end_is_a_torn_tail_and_commit_records_are_none()
    {
        await FillAsync();
        var unit = Assert.Single(UnitInspector.Find(_folder.Path));
        var bytes = await File.ReadAllBytesAsync(Log);
        var end = (int)(await UnitInspector.CheckAsync(unit)).LogEnd;
        Assert.True(bytes.AsSpan(end).IndexOfAnyExcept((byte)0) >= 0);
        bytes.AsSpan(bytes.AsSpan().IndexOf("CFR1"u8), 24).CopyTo(bytes.AsSpan(end + (16 * IRecordLog.Alignment)));
        await File.WriteAllBytesAsync(Log, bytes);
        var report = await UnitInspector.CheckAsync(unit);
        Assert.True(report is { TornTail: true, IsClean: true });
        Assert.Equal(end, report.LogEnd);
    }

    [Fact]
    public async Task A_damaged_payload_is_a_corrupt_page_and_a_damaged_record_is_a_loss()
    {
        await FillAsync();
        var unit = Assert.Single(UnitInspector.Find(_folder.Path));
        var bytes = await File.ReadAllBytesAsync(Log);
        var at = bytes.AsSpan().IndexOf(Entries.Data(12));
        bytes[at + Entries.Data(12).Length - 1] ^= 1;
        await File.WriteAllBytesAsync(Log, bytes);
        var report = await UnitInspector.CheckAsync(unit);
        Assert.False(report.IsClean);
        Assert.Equal(12, Assert.Single(report.Corrupt).Offset);
        Assert.Null(report.Lost);
        bytes[at - 30] ^= 1;
        await File.WriteAllBytesAsync(Log, bytes);
        report = await UnitInspector.CheckAsync(unit);
        Assert.NotNull(report.Lost);
        Assert.InRange(report.RecordsBehindDamage, 7, 20);
        Assert.Equal(bytes, await File.ReadAllBytesAsync(Log));
    }

    [Fact]
    public async Task A_running_unit_is_not_checked()
    {
        await using var node = await OpenAsync();
        var unit = Assert.Single(UnitInspector.Find(_folder.Path));
        await Assert.ThrowsAsync<UnitFolderException>(async () => await UnitInspector.CheckAsync(unit));
        Assert.Equal(node.Id, UnitInspector.Describe(unit).Identity.Unit);
    }

    private Task<UnitNode> OpenAsync() =>
        UnitNode.OpenAsync(new UnitNodeOptions
        {
            Folder = Path.Combine(_folder.Path, "a", "unit"),
            Cluster = Entries.Cluster
        }, SystemEntropy.Instance);

    private async Task FillAsync()
    {
        await using var node = await OpenAsync();
        var unit = new HandlerClient(node.Handler);
        await unit.AskAsync(new InstallRequest(Entries.Projection(1, unit: node.Id)));
        for (var i = 0; i < 20; i++) await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(i)));
        await unit.AskAsync(new TrimRequest(Epoch.First, new LogPosition(7), default));
        await unit.AskAsync(new TrimPrefixRequest(Epoch.First, new LogPosition(5)));
        await unit.AskAsync(new SealRequest(new Epoch(2)));
        await unit.AskAsync(new InstallRequest(Entries.Projection(2, 20, node.Id)));
    }
}
