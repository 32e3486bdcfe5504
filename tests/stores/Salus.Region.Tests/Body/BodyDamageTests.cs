using Salus.Region.Body;
using Salus.Store.Files;

namespace Salus.Region.Tests.Body;

/// <summary>Damage at home is found, said as Corrupt, and costs no other block.</summary>
public sealed class BodyDamageTests
{
    private const long FirstBlock = 4096;

    private static readonly RegionFile s_first = new(BodyHistory.Key, 1);

    [Fact]
    public async Task Damaged_block_is_corrupt_and_the_rest_is_read()
    {
        var (history, member) = await StartAsync();
        var whole = member.Files.Files;
        member.Files.Flip(s_first, FirstBlock + (20 * BodyHistory.BlockSize) + 7);
        Assert.Equal(Status.Corrupt, (await member.Body.ReadAsync(20, 1, 0, default)).Status);
        Assert.Equal(Status.Corrupt, (await member.Body.ReadAsync(10, 20, 0, default)).Status);
        Assert.Equal(Status.Corrupt, (await member.Body.ReadAsync(20, 1, 1, default)).Status);
        Assert.Equal(Status.Ok, (await member.Body.ReadAsync(0, 20, 0, default)).Status);
        Assert.Equal(s_first, member.Damaged.Distinct().Single());
        member.Files.Files = whole;
        await history.CheckAsync(member);
    }

    [Theory]
    [InlineData(3)]
    [InlineData((24 * 7) + 18)]
    [InlineData((24 * 7) + 21)]
    public async Task Damaged_index_page_is_corrupt_wherever_the_bit_is(int offset)
    {
        var (_, member) = await StartAsync();
        var opened = await CheckpointFile.OpenAsync(member.Files, s_first);
        member.Files.Flip(s_first, opened.State.Pages[1].Offset + offset);
        Assert.True(await member.OpenAsync());
        Assert.Equal(Status.Corrupt, (await member.Body.ReadAsync(300, 1, 0, default)).Status);
        Assert.Equal(Status.Corrupt, (await member.Body.ReadTreeAsync([1], 0, default)).Status);
        Assert.Equal(Status.Ok, (await member.Body.ReadAsync(5, 1, 0, default)).Status);
        Assert.Equal(s_first, member.Damaged.Distinct().Single());
    }

    [Fact]
    public async Task Batch_of_a_damaged_page_is_not_taken_until_the_page_is_whole()
    {
        var (history, member) = await StartAsync();
        var whole = member.Files.Files;
        var opened = await CheckpointFile.OpenAsync(member.Files, s_first);
        member.Files.Flip(s_first, opened.State.Pages[1].Offset);
        Assert.True(await member.OpenAsync());
        history.Members.Clear();
        await history.PutAsync([300]);
        var batch = history.Log[^1].Batch!;
        await Assert.ThrowsAsync<IOException>(async () => await member.Body.LoadAsync(batch, default));
        member.Files.Files = whole;
        await member.Body.LoadAsync(batch, default);
        Assert.True(member.Body.Accept(batch));
        member.Body.Commit(batch);
        history.Commit();
        await history.CheckAsync(member);
    }

    [Fact]
    public async Task Checkpoint_that_is_damaged_cut_or_another_is_not_opened()
    {
        var (history, member) = await StartAsync();
        var whole = member.Files.Files;
        member.Files.Flip(s_first, member.Files.Length(s_first) - 200);
        Assert.False(await member.OpenAsync());
        member.Files.Files = whole.SetItem(s_first, whole[s_first][..^1]);
        Assert.False(await member.OpenAsync());
        member.Files.Files = whole.Remove(s_first);
        Assert.False(await member.OpenAsync());
        Assert.Equal([s_first, s_first, s_first], member.Damaged);
        member.Files.Files = whole;
        Assert.True(await member.OpenAsync());
        await history.CheckAsync(member);
    }

    /// <summary>S19: files whose use is not known are needed.</summary>
    [Fact]
    public async Task No_file_is_deleted_beside_an_unreadable_kept_checkpoint()
    {
        var (history, member) = await StartAsync();
        history.Snapshot();
        for (var i = 0; i < 3; i++)
        {
            await history.PutAsync([i]);
            await CutAsync(history);
        }

        history.Trim();
        var whole = member.Files.Files;
        member.Files.Flip(s_first, member.Files.Length(s_first) - 200);
        Assert.True(await member.OpenAsync());
        Assert.Equal(Status.Corrupt, (await member.Body.ReadAsync(0, 1, 1, default)).Status);
        Assert.Equal(Status.Corrupt, (await member.Body.ReadTreeAsync([], 1, default)).Status);
        Assert.Equal(SalusStatus.NotFound, (await member.Body.ReadAsync(0, 1, 2, default)).Status);
        Assert.Empty(await ReleaseAsync(history, member));
        Assert.Equal(4, member.Files.Files.Count);
        member.Files.Files = whole;
        Assert.True(await member.OpenAsync());
        Assert.Empty(await ReleaseAsync(history, member));
    }

    [Fact]
    public async Task Missing_files_are_named()
    {
        var (history, member) = await StartAsync();
        await history.PutAsync([1]);
        await CutAsync(history);
        member.Files.Files = member.Files.Files.Remove(s_first);
        Assert.True(await member.OpenAsync());
        Assert.Equal([1L], member.Body.Missing);
        Assert.Equal([s_first], member.Missing);
        Assert.Empty(member.Damaged);
        Assert.Equal(Status.Ok, (await member.Body.ReadAsync(1, 1, 0, default)).Status);
        Assert.Equal(Status.Corrupt, (await member.Body.ReadAsync(2, 1, 0, default)).Status);
    }

    /// <summary>A report that comes late, of files that later generations may have made.</summary>
    [Fact]
    public async Task Closed_body_lets_no_file_go()
    {
        var (_, member) = await StartAsync();
        var later = s_first with { Number = 9 };
        Assert.True(member.Needs(s_first));
        Assert.False(member.Needs(later));
        await member.Body.DisposeAsync();
        Assert.True(member.Needs(s_first));
        Assert.True(member.Needs(later));
    }

    [Fact]
    public async Task Damaged_input_holds_the_compaction_back_until_mended()
    {
        var (history, member) = await StartAsync();
        var whole = member.Files.Files;
        member.Files.Flip(s_first, FirstBlock + 9);
        await history.PutAsync([500]);
        history.Compact(1);
        history.Commit();
        await member.WorkAsync();
        Assert.Contains("File 1 of", member.Body.FileFault, StringComparison.Ordinal);
        await history.PutAsync([501]);
        history.Cut();
        history.Commit();
        await member.WorkAsync(TimeSpan.FromMilliseconds(1500));
        Assert.False(member.Written[2].IsCompleted || member.Written[3].IsCompleted);
        member.Files.Files = whole;
        await member.WorkAsync(TimeSpan.FromSeconds(3));
        Assert.Null(member.Body.FileFault);
        await history.PublishAsync();
        Assert.Equal([1L, 2L, 3L], history.Kept.Select(checkpoint => checkpoint.Number));
        await history.CheckAsync(member);
    }

    [Fact]
    public async Task Full_disk_holds_files_back_and_no_batch()
    {
        var (history, member) = await StartAsync();
        member.Files.WriteError = new IOException("No space left on device");
        for (var i = 0; i < 3; i++)
        {
            await history.PutAsync([i, 300 + i]);
            history.Cut();
            history.Commit();
            await member.WorkAsync(TimeSpan.FromSeconds(2));
        }

        Assert.Equal("No space left on device", member.Body.FileFault);
        await history.CheckAsync(member);
        member.Files.WriteError = null;
        await member.WorkAsync(TimeSpan.FromMinutes(1));
        await history.PublishAsync();
        Assert.Equal(4, history.Kept.Count);
        await history.CheckAsync(member);
    }

    [Fact]
    public async Task Damaged_memory_is_corrupt_and_becomes_no_file()
    {
        var (history, member) = await StartAsync();
        await history.PutAsync([7, 8]);
        history.Commit();
        var payload = history.Log[^1].Batch!.Payload;
        System.Runtime.InteropServices.MemoryMarshal.TryGetArray(payload, out var bytes);
        bytes.AsSpan()[BodyHistory.BlockSize] ^= 1;
        Assert.Equal(Status.Ok, (await member.Body.ReadAsync(7, 1, 0, default)).Status);
        Assert.Equal(Status.Corrupt, (await member.Body.ReadAsync(8, 1, 0, default)).Status);
        history.Cut();
        history.Commit();
        await member.WorkAsync();
        var error = await Assert.ThrowsAsync<DivergedBodyException>(() => member.Written[2]);
        Assert.Contains("Block 8", error.Message, StringComparison.Ordinal);
        Assert.Null(member.Body.FileFault);
        Assert.Equal([s_first], member.Files.List());
    }

    [Fact]
    public async Task Closed_body_ends_waiting_calls()
    {
        var (history, member) = await StartAsync();
        member.Files.WriteError = new IOException("broken");
        await history.PutAsync([1]);
        history.Cut();
        history.Commit();
        await member.WorkAsync();
        await member.Body.DisposeAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => member.Written[2]);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => member.Body.ReleaseAsync([.. history.Kept]));
        await member.Body.DisposeAsync();
    }

    [Fact]
    public async Task Wrong_turn_is_refused()
    {
        var (_, member) = await StartAsync();
        var last = member.Body;
        Assert.Throws<InvalidOperationException>(() => { _ = last.CutAsync(new CutRecord(1), 9, default, default); });
        Assert.Throws<InvalidOperationException>(() => { _ = last.CutAsync(new CutRecord(2), 2, default, default); });
        Assert.Throws<InvalidOperationException>(
            () => { _ = last.CutAsync(new CutRecord(2), 9, default, new BatchName(1, 9, default)); });
    }

    // A region whose blocks are all in the first file.
    private static async Task<(BodyHistory History, BodyMember Member)> StartAsync()
    {
        var history = new BodyHistory(7);
        var member = new BodyMember(history);
        history.Members.Add(member);
        Assert.True(await member.OpenAsync());
        await history.PutAsync(Enumerable.Range(0, BodyHistory.Blocks));
        await CutAsync(history);
        return (history, member);
    }

    private static async Task CutAsync(BodyHistory history)
    {
        history.Cut();
        history.Commit();
        await history.Members[0].WorkAsync();
        await history.PublishAsync();
    }

    private static async Task<ImmutableArray<long>> ReleaseAsync(BodyHistory history, BodyMember member)
    {
        var released = member.Body.ReleaseAsync([.. history.Kept]);
        await member.WorkAsync();
        return await released;
    }
}
