using Salus.Region.Body;
using Salus.Region.Recovery;
using Salus.Store.Files;

namespace Salus.Region.Tests.Recovery;

/// <summary>Recoveries of a region that has checkpoints: the base, files that are copied, cuts in the log.</summary>
public sealed class CheckpointRecoveryTests : IAsyncLifetime
{
    private readonly RecoveryWorld _world = new() { HasFiles = true };

    private TestHistory History => _world.History;

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task New_member_gets_the_files_and_the_log_above_the_checkpoint()
    {
        var kept = await FillAsync();
        await StartAsync(kept);
        await _world.ReplaceAsync(1, 2, 4);
        var recovered = await _world.RecoverAsync();
        foreach (var region in recovered)
        {
            Assert.Equal((11L, 6L), (region.Index, region.Last.Number));
            Assert.Equal([8L, 9L, 10L], region.Above.Select(static logged => logged.Batch.Header.Number));
            await CheckAsync(region.Body, committed: 6);
            Assert.Equal(TestHistory.BatchOf(History.Log[^1]).Participant.Root, region.Body.Root);
        }

        Assert.Equal(_world.FilesOf(1).Find(FileOf(1)), _world.FilesOf(4).Find(FileOf(1)));
    }

    [Fact]
    public async Task Damaged_file_of_a_member_comes_again_from_a_peer()
    {
        var kept = await FillAsync();
        await StartAsync(kept);
        // The end, which says what the file is.
        _world.FilesOf(1).Flip(FileOf(1), _world.FilesOf(1).Length(FileOf(1)) - 1);
        await _world.ReplaceAsync(1, 2, 4);
        foreach (var region in await _world.RecoverAsync()) await CheckAsync(region.Body, committed: 6);
        Assert.Equal(_world.FilesOf(2).Find(FileOf(1)), _world.FilesOf(1).Find(FileOf(1)));
    }

    /// <summary>The newest file was taken for missing, and was copied from a peer again and again.</summary>
    [Fact]
    public async Task Unreadable_folder_delays_a_recovery_without_copies()
    {
        var kept = await FillAsync();
        await StartAsync(kept);
        var copies = 0;
        _world.Called = request =>
        {
            if (request is ReadFileRequest) Interlocked.Increment(ref copies);
        };
        var files = _world.FilesOf(1);
        _world.FilesOf(4).Files = files.Files;
        files.ListError = new IOException("broken");
        await _world.ReplaceAsync(1, 2, 4);
        var recovering = _world.RecoverAsync();
        while (files.FailedListings < 3) await Task.Delay(1, TestContext.Current.CancellationToken);
        Assert.False(recovering.IsCompleted);
        files.ListError = null;
        foreach (var region in await recovering) await CheckAsync(region.Body, committed: 6);
        Assert.Equal(0, copies);
    }

    /// <summary>S10: an old disk has a checkpoint of the number, with valid checksums and other blocks.</summary>
    [Fact]
    public async Task Checkpoint_that_is_not_the_recorded_one_is_no_base()
    {
        var kept = await FillAsync();
        var other = await WriteAsync(History.Log.Take(3), History.Log[6]);
        await StartAsync(kept);
        foreach (var store in (int[])[1, 4]) _world.FilesOf(store).Files = other.Files.Files;
        Assert.NotEqual(kept, other.Name);
        await _world.ReplaceAsync(1, 4, 2);
        foreach (var region in await _world.RecoverAsync()) await CheckAsync(region.Body, committed: 6);
        Assert.Equal(_world.FilesOf(2).Find(FileOf(1)), _world.FilesOf(4).Find(FileOf(1)));
    }

    [Fact]
    public async Task Cut_in_the_log_is_carried_out_when_the_batches_are_committed()
    {
        var kept = await FillAsync();
        var cut = History.Cut(2);
        History.Append(3);
        await StartAsync(kept);
        var name = TestHistory.BatchOf(History.Log[9]).Header.Name;
        var proof = new CommitProof(TestHistory.Key.Region, name, TestHistory.Certify(History.Anchor,
            Statement.Committed(TestHistory.Key, History.Anchor.Number, name)));
        _world[2].Log.TryMark(TestHistory.Key, proof, out _);
        await _world.ReplaceAsync(1, 2, 4);
        var recovered = await _world.RecoverAsync();
        var names = await Task.WhenAll(recovered.Select(static region => Assert.Single(region.Begun).Written));
        Assert.Equal((cut.Head.Index, 10L), (names[0].Index, names[0].Batch));
        Assert.Single(names.Distinct());
        Assert.All(recovered, static region => Assert.Empty(region.Cuts));
    }

    [Fact]
    public async Task Cut_whose_batches_are_not_committed_waits()
    {
        var kept = await FillAsync();
        var cut = History.Cut(2);
        await StartAsync(kept);
        await _world.ReplaceAsync(1, 2, 4);
        foreach (var region in await _world.RecoverAsync())
        {
            Assert.Equal(cut.Head, Assert.Single(region.Cuts).Head);
            Assert.Empty(region.Begun);
        }
    }

    /// <summary>A run waited for ever: a checkpoint proved more than the driver's note, and no region told the volume's
    /// root there. Also behind members that were new.</summary>
    [Fact]
    public async Task Region_with_all_batches_in_a_checkpoint_tells_the_header_of_the_last()
    {
        var kept = await FillAsync(above: 0);
        await _world.StartAsync([1, 2, 3, 4, 5, 6], kept: [kept]);
        _world.Lose(3);
        await _world.ReplaceAsync(4, 1, 2);
        Check(await _world.RecoverAsync());
        _world.Admit();
        _world.Lose(1);
        _world.Lose(2);
        await _world.ReplaceAsync(5, 6, 4);
        Check(await _world.RecoverAsync());

        void Check(RecoveredRegion[] recovered) => Assert.All(recovered, region =>
            Assert.Equal(TestHistory.BatchOf(History.Log[5]).Header.Name, region.LastHeader?.Name));
    }

    /// <summary>No checkpoint has been reached by the stable point: a region may have to return below all of them.
    /// </summary>
    [Fact]
    public async Task New_member_gets_the_log_down_to_the_stable_point()
    {
        var kept = await FillAsync();
        await _world.StartAsync([1, 2, 3, 4], kept: [kept]);
        _world.Lose(3);
        await _world.ReplaceAsync(1, 2, 4);
        await _world.RecoverAsync();
        foreach (var record in History.Log)
        {
            var name = new RecordName(record.Head.Generation, record.Head.Index);
            Assert.Equal(record.Head, (await _world[4].Log.ReadAsync(TestHistory.Key, name))?.Head);
        }
    }

    private static RegionFile FileOf(long number) => new(TestHistory.Key, number);

    // Six batches, a checkpoint of them, more batches.
    private async Task<CheckpointName> FillAsync(int above = 3)
    {
        History.Create(1, 2, 3);
        for (var i = 0; i < 6; i++) History.Append(3);
        History.Cut(1);
        var written = await WriteAsync(History.Log.Take(6), History.Log[6]);
        foreach (var store in (int[])[1, 2, 3]) _world.FilesOf(store).Files = written.Files.Files;
        for (var i = 0; i < above; i++) History.Append(3);
        return written.Name;
    }

    // Records below the checkpoint have been freed.
    private async Task StartAsync(CheckpointName kept)
    {
        await _world.StartAsync([1, 2, 3, 4], (_, record) => record.Head.Index <= kept.Index, kept: [kept]);
        _world.Lose(3);
    }

    private static async Task<(CheckpointName Name, Body.MemoryFiles Files)> WriteAsync(
        IEnumerable<RegionRecord> batches, RegionRecord cut)
    {
        var files = new Body.MemoryFiles();
        await using var bodies = new RegionBodies(
            files, ThreadWorkers.Instance, static _ => { }, static error => Assert.Fail(error.ToString()));
        var geometry = VolumeGeometry.Create(
            4L * TestHistory.Blocks * TestHistory.BlockSize, TestHistory.BlockSize, TestHistory.Blocks);
        var opened = await bodies.OpenAsync(TestHistory.Key, geometry, [], default, default);
        await using var body = opened!.Body;
        var last = default(BatchName);
        foreach (var batch in batches.Select(TestHistory.BatchOf))
        {
            await body.LoadAsync(batch, default);
            Assert.True(body.Accept(batch));
            body.Commit(batch);
            last = batch.Header.Name;
        }

        var name = await body.CutAsync(CutRecord.Decode(cut.Content), cut.Head.Index, cut.Head.Chain, last);
        return (name, files);
    }

    private async Task CheckAsync(IRegionBody body, int committed)
    {
        var read = await body.ReadAsync(0, TestHistory.Blocks, 0, default);
        Assert.Equal(Status.Ok, read.Status);
        foreach (var batch in History.Log.Take(committed).Select(TestHistory.BatchOf))
            Assert.True(read.Blocks[batch.Writes[0].Block].Span.SequenceEqual(batch.Payload.Span));
        Assert.Equal(committed, read.Blocks.Count(static block => !block.IsEmpty));
    }
}
