using Orleans.Journaling;
using Orleans.Storage;
using Tango;
using Tango.Testing;
using static Corfu.Orleans.Tests.Journaling.JournalHarness;

namespace Corfu.Orleans.Tests.Journaling;

/// <summary>Which journals there are, and what the log is kept for.</summary>
public sealed class JournalCatalogTests : IAsyncDisposable
{
    private readonly Queue<AppendFault> _faults = new();
    private readonly JournalHarness _harness;

    public JournalCatalogTests() => _harness = new JournalHarness(
        new InMemoryLogOptions
        {
            NextAppendFault = () => _faults.TryDequeue(out var fault) ? fault : AppendFault.None,
        },
        maxSpan: 2);

    public ValueTask DisposeAsync() => _harness.DisposeAsync();

    [Fact]
    public async Task Trims_keep_entries_that_journals_need_and_pass_entries_that_snapshots_outdate()
    {
        using var idle = _harness.Open("idle");
        await idle.AppendAsync(Bytes("kept"), default);
        var oldest = (await _harness.PositionsAsync("idle"))[0];
        using var busy = _harness.Open("busy");
        await WriteALotAsync(busy);

        Assert.InRange((await _harness.TrimAsync()).Offset, 1, oldest.Offset);
        Assert.Equal("kept", await ReadAsync(_harness.Open("idle")));
        var tail = (await _harness.Log.CheckAsync([])).Tail;
        var claimed = await Assert.ThrowsAsync<TangoClaimedException>(
            async () => await _harness.Runtime.Log.TrimBelowAsync(tail));
        Assert.Contains(claimed.Claims, static claim => claim.Name == CatalogName);

        await idle.ReplaceAsync(Bytes("moved"), default);
        await WriteALotAsync(busy);
        Assert.True(await _harness.TrimAsync() > oldest);
        Assert.Equal("moved", await ReadAsync(_harness.Open("idle")));
        Assert.StartsWith("S", await ReadAsync(_harness.Open("busy")), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_deleted_journal_does_not_keep_the_log()
    {
        using var gone = _harness.Open("gone");
        await gone.AppendAsync(Bytes("x"), default);
        var oldest = (await _harness.PositionsAsync("gone"))[0];
        await gone.DeleteAsync(default);
        await _harness.TrimmedAsync();
        Assert.All(
            await _harness.StatesAsync(await _harness.PositionsAsync("gone")),
            state => Assert.Equal(PageState.Trimmed, state));
        using var busy = _harness.Open("busy");
        await WriteALotAsync(busy);
        Assert.True(await _harness.TrimAsync() > oldest);
    }

    [Fact]
    public async Task Deletion_of_a_journal_that_never_was_writes_no_entry()
    {
        Assert.Null(await _harness.Open().GetMetadataAsync());
        var tail = (await _harness.Log.CheckAsync([])).Tail;
        await _harness.Open().DeleteAsync(default);
        Assert.Equal("", await ReadAsync(_harness.Open()));
        Assert.Equal(tail, (await _harness.Log.CheckAsync([])).Tail);
    }

    [Fact]
    public async Task A_snapshot_whose_place_the_catalog_did_not_hear_of_is_told_by_the_next_activation()
    {
        using var storage = _harness.Open();
        await storage.AppendAsync(Bytes("old"), default);
        _faults.Enqueue(AppendFault.None);
        _faults.Enqueue(AppendFault.LostAndUnknown);
        await storage.ReplaceAsync(Bytes("S"), default);
        await _harness.TrimmedAsync();
        Assert.All(
            await _harness.StatesAsync(await _harness.PositionsAsync()), state => Assert.Equal(PageState.Data, state));

        Assert.Equal("S", await ReadAsync(_harness.Open()));
        await _harness.TrimmedAsync();
        Assert.Equal(
            [PageState.Trimmed, PageState.Data], await _harness.StatesAsync(await _harness.PositionsAsync()));
        Assert.Equal("S", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task A_deletion_that_was_cut_short_is_finished_by_the_next_that_opens_the_journal()
    {
        using var storage = _harness.Open();
        await storage.AppendAsync(Bytes("old"), default);
        _faults.Enqueue(AppendFault.None);
        _faults.Enqueue(AppendFault.LostAndUnknown);
        await Assert.ThrowsAsync<CorfuOutcomeUnknownException>(() => storage.DeleteAsync(default).AsTask());

        Assert.Equal("", await ReadAsync(_harness.Open()));
        Assert.Null(await _harness.Open().GetMetadataAsync());
        Assert.True(await _harness.Open().CreateIfNotExistsAsync());
        Assert.Equal("", await ReadAsync(storage));
        await storage.AppendAsync(Bytes("new"), default);
        Assert.Equal("new", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task Changes_of_properties_leave_the_writer_of_the_content_alone()
    {
        using var writer = _harness.Open();
        await writer.AppendAsync(Bytes("1"), default);
        var other = _harness.Open();
        string? etag = (await other.GetMetadataAsync())!.ETag;
        var set = new Dictionary<string, string> { ["owner"] = "other" };
        Assert.NotNull(await other.UpdateMetadataAsync(set, expectedETag: etag));
        await writer.AppendAsync(Bytes("2"), default);
        await writer.ReplaceAsync(Bytes("S"), default);
        Assert.Null(await other.UpdateMetadataAsync(null, ["owner"], etag));
        var unchanged = await other.UpdateMetadataAsync(set);
        Assert.Equal(unchanged!.ETag, (await _harness.Open().GetMetadataAsync())!.ETag);
        var (text, metadata, _) = await ReadAllAsync(_harness.Open());
        Assert.Equal(("S", "other", "json"), (text, metadata!.Properties["owner"], metadata.FormatKey));
    }

    [Fact]
    public async Task Caller_that_has_seen_no_record_writes_to_the_existing_journal()
    {
        await _harness.Open().AppendAsync(Bytes("1"), default);
        await _harness.Open().AppendAsync(Bytes("2"), default);
        Assert.Equal("12", await ReadAsync(_harness.Open()));
        await _harness.Open().DeleteAsync(default);
        await _harness.Open().AppendAsync(Bytes("3"), default);
        Assert.Equal("3", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task Writer_of_a_deleted_journal_does_not_bring_that_back()
    {
        using var stale = _harness.Open();
        await stale.AppendAsync(Bytes("1"), default);
        await _harness.Open().DeleteAsync(default);
        await Assert.ThrowsAsync<InconsistentStateException>(() => stale.AppendAsync(Bytes("2"), default).AsTask());
        Assert.Null(await _harness.Open().GetMetadataAsync());
        await _harness.Open().AppendAsync(Bytes("new"), default);
        await Assert.ThrowsAsync<InconsistentStateException>(() => stale.AppendAsync(Bytes("2"), default).AsTask());
        Assert.Equal("new", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task A_deletion_and_an_append_at_once_leave_a_whole_journal_or_none()
    {
        for (int i = 0; i < 64; i++)
        {
            string id = $"both/{i}";
            if (i % 2 == 0) await _harness.Open(id).CreateIfNotExistsAsync();
            var deleting = Task.Run(async () => await _harness.Open(id).DeleteAsync(default));
            var appending = Task.Run(async () => await _harness.Open(id).AppendAsync(Bytes("123"), default));
            await Task.WhenAll(deleting, appending);

            if (await _harness.Open(id).GetMetadataAsync() is not null)
                Assert.Equal("123", await ReadAsync(_harness.Open(id)));
            else
                Assert.Equal("", await ReadAsync(_harness.Open(id)));
        }
    }

    [Fact]
    public async Task Reads_while_a_journal_is_replaced_see_one_snapshot()
    {
        using var writer = _harness.Open();
        string[] both = [new('a', 512), new('b', 512)];
        await writer.ReplaceAsync(Bytes(both[0]), default);
        var replacing = Task.Run(async () =>
        {
            for (int i = 0; i < 100; i++) await writer.ReplaceAsync(Bytes(both[i % 2]), default);
        });
        var reading = Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
        {
            for (int i = 0; i < 25; i++) Assert.Contains(await ReadAsync(_harness.Open()), both);
        }));
        await Task.WhenAll(reading.Append(replacing));
    }

    [Fact]
    public async Task A_consumer_that_cancels_is_told_of_no_end()
    {
        using var storage = _harness.Open();
        await storage.AppendAsync(Bytes("1"), default);
        using var cancellation = new CancellationTokenSource();
        Assert.False((await ReadAllAsync(_harness.Open(), cancellation)).IsCompleted);
    }

    [Fact]
    public async Task The_catalog_lists_journals_by_prefix_and_bounds()
    {
        await _harness.Open("jobs/1").CreateIfNotExistsAsync(new Dictionary<string, string> { ["owner"] = "me" });
        foreach (string id in new[] { "jobs/2", "jobs/20", "jobs/3", "jobsabc", "other" })
            await _harness.Open(id).AppendAsync(Bytes("x"), default);
        await _harness.Open("jobs/2").DeleteAsync(default);

        Assert.Equal(["jobs/1", "jobs/20", "jobs/3", "jobsabc", "other"], await ListAsync(null));
        Assert.Equal(["jobs/1", "jobs/20", "jobs/3"], await ListAsync(new() { Prefix = new JournalId("jobs/") }));
        Assert.Equal(["jobs/20", "jobs/3"], await ListAsync(
            new() { MinId = new JournalId("jobs/2"), MaxId = new JournalId("jobs/3") }));
        var listed = new List<JournalCatalogEntry>();
        await foreach (var entry in _harness.Provider.ListAsync(new() { IncludeMetadata = true })) listed.Add(entry);
        Assert.Equal("me", listed[0].Metadata!.Properties["owner"]);
        Assert.Equal((await _harness.Open("jobs/1").GetMetadataAsync())!.ETag, listed[0].Metadata!.ETag);
        Assert.Equal("json", listed[1].Metadata!.FormatKey);
    }

    private async Task<List<string>> ListAsync(JournalCatalogListOptions? options)
    {
        var ids = new List<string>();
        await foreach (var entry in _harness.Provider.ListAsync(options))
        {
            Assert.Null(entry.Metadata);
            ids.Add(entry.Id.Value);
        }

        return ids;
    }

    private static async Task WriteALotAsync(IJournalStorage storage)
    {
        for (int i = 0; i < 20; i++)
        {
            await storage.ReplaceAsync(Bytes("S"), default);
            await storage.AppendAsync(Bytes("x"), default);
        }
    }
}
