using Corfu.Orleans.Journaling;
using Corfu.Orleans.Journaling.Storage;
using Corfu.Protocol;
using Orleans.Storage;
using Tango.Testing;
using static Corfu.Orleans.Tests.Journaling.JournalHarness;

namespace Corfu.Orleans.Tests.Journaling;

/// <summary>Orleans' expectations of a journal's storage, over a log in memory.</summary>
public sealed class JournalStorageTests : IAsyncDisposable
{
    private readonly JournalHarness _harness = new();

    public ValueTask DisposeAsync() => _harness.DisposeAsync();

    [Fact]
    public async Task A_journal_that_was_never_written_reads_as_empty_and_completed()
    {
        var (text, metadata, isCompleted) = await ReadAllAsync(_harness.Open());
        Assert.Equal(("", true), (text, isCompleted));
        Assert.Null(metadata?.FormatKey);
        Assert.Null(await _harness.Open().GetMetadataAsync());
    }

    [Fact]
    public async Task Appends_are_read_in_order_with_the_format()
    {
        using var storage = _harness.Open();
        foreach (string text in new[] { "a", "b", "c" }) await storage.AppendAsync(Bytes(text), default);
        var (read, metadata, _) = await ReadAllAsync(_harness.Open());
        Assert.Equal(("abc", "json"), (read, metadata?.FormatKey));
        Assert.Equal("abc", await ReadAsync(storage));
    }

    [Fact]
    public async Task A_replacement_takes_the_place_of_everything_before()
    {
        using var storage = _harness.Open();
        await storage.AppendAsync(Bytes("old"), default);
        await storage.ReplaceAsync(Bytes("S"), default);
        Assert.Equal("S", await ReadAsync(_harness.Open()));
        await storage.AppendAsync(Bytes("d"), default);
        Assert.Equal("Sd", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task Entries_that_a_replacement_outdates_are_trimmed()
    {
        using var storage = _harness.Open();
        for (int i = 0; i < 20; i++) await storage.AppendAsync(Bytes("x"), default);
        var outdated = await _harness.PositionsAsync();
        Assert.Equal(20, outdated.Count);
        await storage.ReplaceAsync(Bytes("S"), default);
        await storage.AppendAsync(Bytes("1"), default);
        await _harness.TrimmedAsync();
        Assert.All(await _harness.StatesAsync(outdated), state => Assert.Equal(PageState.Trimmed, state));
        Assert.All(
            await _harness.StatesAsync((await _harness.PositionsAsync())[20..]),
            state => Assert.Equal(PageState.Data, state));
        Assert.Equal("S1", await ReadAsync(_harness.Open()));
        Assert.Equal("S1", await ReadAsync(storage));
    }

    [Fact]
    public async Task A_journal_is_read_after_many_replacements_and_trims()
    {
        string expected = "";
        for (int activation = 0; activation < 10; activation++)
        {
            using var storage = _harness.Open();
            Assert.Equal(expected, await ReadAsync(storage));
            for (int i = 0; i < 7; i++)
            {
                await storage.AppendAsync(Bytes($"{i}"), default);
                expected += i;
                if (i % 3 != activation % 3) continue;
                expected = $"<{activation}>";
                await storage.ReplaceAsync(Bytes(expected), default);
            }

            await _harness.TrimmedAsync();
        }

        Assert.Equal(expected, await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task Second_of_two_writers_that_saw_the_same_record_is_refused()
    {
        using var first = _harness.Open();
        using var second = _harness.Open();
        await first.AppendAsync(Bytes("0"), default);
        await ReadAsync(first);
        await ReadAsync(second);
        await first.AppendAsync(Bytes("1"), default);
        await Assert.ThrowsAsync<InconsistentStateException>(() => second.AppendAsync(Bytes("2"), default).AsTask());
        Assert.Equal("01", await ReadAsync(_harness.Open()));
        await Assert.ThrowsAsync<InconsistentStateException>(() => second.AppendAsync(Bytes("2"), default).AsTask());
        Assert.Equal("01", await ReadAsync(second));
        await second.AppendAsync(Bytes("2"), default);
        Assert.Equal("012", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task A_writer_that_another_one_built_upon_is_refused()
    {
        using var first = _harness.Open();
        using var second = _harness.Open();
        await first.AppendAsync(Bytes("1"), default);
        await ReadAsync(second);
        await second.AppendAsync(Bytes("2"), default);
        Assert.NotNull(await first.GetMetadataAsync());
        await Assert.ThrowsAsync<InconsistentStateException>(() => first.AppendAsync(Bytes("x"), default).AsTask());
        Assert.Equal("12", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task A_writer_whose_past_was_trimmed_is_refused()
    {
        using var first = _harness.Open();
        using var second = _harness.Open();
        await first.AppendAsync(Bytes("1"), default);
        await ReadAsync(second);
        await first.AppendAsync(Bytes("2"), default);
        await first.AppendAsync(Bytes("3"), default);
        await first.ReplaceAsync(Bytes("S"), default);
        await first.AppendAsync(Bytes("4"), default);
        await _harness.TrimmedAsync();
        await Assert.ThrowsAsync<InconsistentStateException>(() => second.ReplaceAsync(Bytes("T"), default).AsTask());
        await Assert.ThrowsAsync<InconsistentStateException>(() => second.AppendAsync(Bytes("5"), default).AsTask());
        Assert.Equal("S4", await ReadAsync(_harness.Open()));
        Assert.Equal("S4", await ReadAsync(second));
        await second.AppendAsync(Bytes("5"), default);
        Assert.Equal("S45", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task Writers_at_once_never_mix()
    {
        var acknowledged = new List<string>();
        await Task.WhenAll(Enumerable.Range(0, 4).Select(async writer =>
        {
            using var storage = _harness.Open();
            for (int i = 0; i < 25; i++)
            {
                string known = await ReadAsync(storage);
                try
                {
                    await storage.AppendAsync(Bytes($"[{writer}.{i} after {known.Length}]"), default);
                    lock (acknowledged) acknowledged.Add($"[{writer}.{i} after {known.Length}]");
                }
                catch (InconsistentStateException)
                {
                    // Another one was first.
                }
            }
        }));
        string text = await ReadAsync(_harness.Open());
        Assert.Equal(acknowledged.Sum(record => record.Length), text.Length);
        // Each was written by one who had seen all before it.
        Assert.All(acknowledged, record => Assert.EndsWith(
            $"after {text.IndexOf(record, StringComparison.Ordinal)}]", record));
    }

    [Fact]
    public async Task A_deleted_journal_is_empty_and_can_begin_anew()
    {
        using var storage = _harness.Open();
        await storage.CreateIfNotExistsAsync(new Dictionary<string, string> { ["owner"] = "me" });
        await storage.AppendAsync(Bytes("old"), default);
        await storage.DeleteAsync(default);
        Assert.Equal("", await ReadAsync(_harness.Open()));
        Assert.Null(await _harness.Open().GetMetadataAsync());
        await storage.AppendAsync(Bytes("new"), default);
        await _harness.TrimmedAsync();
        Assert.Equal("new", await ReadAsync(_harness.Open()));
        Assert.Empty((await _harness.Open().GetMetadataAsync())!.Properties);
    }

    [Fact]
    public async Task Properties_survive_replacements_and_compare_etags()
    {
        using var storage = _harness.Open();
        Assert.True(await storage.CreateIfNotExistsAsync(new Dictionary<string, string> { ["a"] = "1" }));
        Assert.False(await _harness.Open().CreateIfNotExistsAsync(new Dictionary<string, string> { ["a"] = "2" }));
        string? etag = (await storage.GetMetadataAsync())!.ETag;
        var set = new Dictionary<string, string> { ["b"] = "2" };
        var updated = await storage.UpdateMetadataAsync(set, ["a"], etag);
        Assert.Equal(["b"], updated!.Properties.Keys);
        Assert.Null(await _harness.Open().UpdateMetadataAsync(set, null, etag));
        await storage.ReplaceAsync(Bytes("S"), default);
        await storage.AppendAsync(Bytes("1"), default);
        await _harness.TrimmedAsync();
        Assert.Equal("2", (await _harness.Open().GetMetadataAsync())!.Properties["b"]);
        Assert.Equal("S1", await ReadAsync(_harness.Open()));
        await Assert.ThrowsAsync<ArgumentException>(async () =>
            await storage.UpdateMetadataAsync(new Dictionary<string, string> { ["$x"] = "1" }));
    }

    [Fact]
    public async Task Batches_larger_than_an_entry_are_whole_or_not_there()
    {
        await using var harness = new JournalHarness(new InMemoryLogOptions { MaxPayload = 600 });
        using var storage = harness.Open();
        string large = string.Concat(Enumerable.Range(0, 1_000).Select(i => $"{i},"));
        await storage.AppendAsync(Bytes(large), default);
        await storage.AppendAsync(Bytes("end"), default);
        Assert.Equal(large + "end", await ReadAsync(harness.Open()));
        await storage.ReplaceAsync(Bytes(large), default);
        Assert.Equal(large, await ReadAsync(harness.Open()));
        await storage.AppendAsync(Bytes("more"), default);
        await harness.TrimmedAsync();
        Assert.Equal(large + "more", await ReadAsync(harness.Open()));
        Assert.Equal(large + "more", await ReadAsync(storage));
    }

    [Fact]
    public async Task A_large_batch_of_a_writer_that_is_behind_hides_no_snapshot()
    {
        await using var harness = new JournalHarness(new InMemoryLogOptions { MaxPayload = 600 });
        using var behind = harness.Open();
        using var ahead = harness.Open();
        await behind.AppendAsync(Bytes("1"), default);
        await ReadAsync(ahead);
        await ahead.ReplaceAsync(Bytes("S"), default);
        await ahead.AppendAsync(Bytes("2"), default);
        await harness.TrimmedAsync();
        await Assert.ThrowsAsync<InconsistentStateException>(() =>
            behind.ReplaceAsync(Bytes(new string('x', 10_000)), default).AsTask());
        Assert.Equal("S2", await ReadAsync(harness.Open()));
        await ahead.AppendAsync(Bytes("3"), default);
        Assert.Equal("S23", await ReadAsync(harness.Open()));
    }

    [Fact]
    public async Task Batch_above_the_limit_is_refused_without_loss()
    {
        await using var harness = new JournalHarness(options: new CorfuJournalOptions { MaxBatchBytes = 10 });
        using var storage = harness.Open();
        await storage.AppendAsync(Bytes("ten bytes."), default);
        var e = await Assert.ThrowsAsync<CorfuJournalException>(() =>
            storage.AppendAsync(Bytes("eleven byte"), default).AsTask());
        Assert.Contains("MaxBatchBytes", e.Message);
        await storage.AppendAsync(Bytes("!"), default);
        Assert.Equal("ten bytes.!", await ReadAsync(harness.Open()));
    }

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown, "ab")]
    [InlineData(AppendFault.LostAndUnknown, "a")]
    [InlineData(AppendFault.LeaveHole, "ab")]
    public async Task An_append_whose_answer_is_lost_is_resolved(AppendFault fault, string expected)
    {
        var next = AppendFault.None;
        await using var harness = new JournalHarness(new InMemoryLogOptions
        {
            NextAppendFault = () => Interlocked.Exchange(ref next, AppendFault.None),
        });
        using var storage = harness.Open();
        await storage.AppendAsync(Bytes("a"), default);
        next = fault;
        var thrown = await Record.ExceptionAsync(() => storage.AppendAsync(Bytes("b"), default).AsTask());
        // The append took effect exactly if nothing was thrown.
        Assert.Equal(expected, await ReadAsync(harness.Open()));
        Assert.Equal(expected == "ab", thrown is null);
        await ReadAsync(storage);
        await storage.AppendAsync(Bytes("c"), default);
        Assert.Equal(expected + "c", await ReadAsync(harness.Open()));
    }

    [Fact]
    public async Task Compaction_is_asked_for_after_so_many_writes_and_bytes()
    {
        await using var harness = new JournalHarness(
            options: new CorfuJournalOptions { CompactAfterWrites = 3, CompactAfterBytes = 100 });
        using var storage = harness.Open();
        Assert.False(storage.IsCompactionRequested);
        for (int i = 0; i < 3; i++)
        {
            Assert.False(storage.IsCompactionRequested);
            await storage.AppendAsync(Bytes("x"), default);
        }

        Assert.True(storage.IsCompactionRequested);
        await storage.ReplaceAsync(Bytes(new string('S', 150)), default);
        await storage.AppendAsync(Bytes(new string('x', 120)), default);
        Assert.False(storage.IsCompactionRequested);
        await storage.AppendAsync(Bytes(new string('x', 30)), default);
        Assert.True(storage.IsCompactionRequested);
    }

    [Fact]
    public async Task Entries_that_are_no_records_of_the_journal_are_passed_over()
    {
        using var storage = _harness.Open();
        await storage.AppendAsync(Bytes("a"), default);
        var stream = StreamOf("cart/1");
        await _harness.Log.AppendToObjectsAsync(new byte[] { 1, 2, 3 }, [stream]);
        var another = new JournalRecord(JournalRecordKind.Delete, "another", Guid.NewGuid(), 0,
            (await _harness.PositionsAsync())[0].Offset, null, default);
        await _harness.Log.AppendToObjectsAsync(another.Encode(), [stream]);
        await storage.AppendAsync(Bytes("b"), default);
        Assert.Equal("ab", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public async Task No_raw_append_reaches_the_stream_of_a_journal()
    {
        await Assert.ThrowsAsync<StreamRangeException>(
            async () => await _harness.Log.AppendAsync(new byte[] { 1 }, [StreamOf("cart/1")]));
    }

    [Fact]
    public async Task Record_of_a_later_version_is_an_error_and_no_record_is_passed_over()
    {
        using var storage = _harness.Open();
        await storage.AppendAsync(Bytes("a"), default);
        byte[] later = new JournalRecord(
            JournalRecordKind.Append, "cart/1", Guid.NewGuid(), 0, 1, null, default).Encode().ToArray();
        // Behind the array's header and the magic number.
        Assert.Equal(1, later[6]++);
        await _harness.Log.AppendToObjectsAsync(later, [StreamOf("cart/1")]);
        var e = await Assert.ThrowsAsync<CorfuJournalException>(() => ReadAsync(_harness.Open()));
        Assert.Contains("format 2", e.Message);
        Assert.IsType<CorfuOutcomeUnknownException>(
            await Record.ExceptionAsync(() => storage.AppendAsync(Bytes("b"), default).AsTask()));
        await Assert.ThrowsAsync<InconsistentStateException>(() => storage.AppendAsync(Bytes("c"), default).AsTask());
    }

    [Fact]
    public async Task A_journal_whose_needed_entries_were_trimmed_by_hand_is_refused()
    {
        using var storage = _harness.Open();
        for (int i = 0; i < 10; i++) await storage.AppendAsync(Bytes("a"), default);
        await _harness.Log.TrimAsync((await _harness.PositionsAsync())[2]);
        var e = await Assert.ThrowsAsync<CorfuJournalException>(() => ReadAsync(_harness.Open()));
        Assert.Contains("were trimmed", e.Message);
    }

    [Fact]
    public async Task Cancelled_write_has_no_effect()
    {
        using var storage = _harness.Open();
        await storage.AppendAsync(Bytes("a"), default);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() =>
            storage.AppendAsync(Bytes("b"), new CancellationToken(true)).AsTask());
        await storage.AppendAsync(Bytes("c"), default);
        Assert.Equal("ac", await ReadAsync(_harness.Open()));
    }

    [Fact]
    public void All_faults_of_the_options_are_told_at_once()
    {
        var options = new CorfuJournalOptions
        {
            CompactAfterWrites = 0,
            CompactAfterBytes = 0,
            MaxBatchBytes = 0,
            TrimsInFlight = 0,
        };
        var result = new CorfuJournalOptionsValidator().Validate(null, options);
        Assert.Equal(4, result.Failures!.Count());
        Assert.True(new CorfuJournalOptionsValidator().Validate(null, new CorfuJournalOptions()).Succeeded);
    }
}
