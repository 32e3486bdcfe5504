using Corfu.Conformance;
using Corfu.Transport;
using Salus.Store.Files;
using Salus.Store.Log;

namespace Salus.Store.Tests;

/// <summary>A store as others see it.</summary>
public sealed class StoreHandlerTests : IAsyncLifetime
{
    private readonly RecordingFiles _disk = new();
    private readonly MemoryRegionFiles _files = new();
    private readonly Generations _generations = new();
    private readonly TestRegion _region = new(0);
    private StoreLog _log = null!;
    private StoreHandler _handler = null!;

    public async ValueTask InitializeAsync()
    {
        _log = new StoreLog(_disk, static (files, space, sizes) => new PlainRecordLog(files, space, sizes),
            ThreadWorkers.Instance, TestRegion.Store, StoreLogConformance.Small);
        await _log.RecoverAsync();
        _handler = new StoreHandler(TestRegion.Store, _log, _files, _generations);
        for (var i = 0; i < 5; i++) await StoreLogConformance.AppendAsync(_log, _region.Put());
    }

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Fact]
    public async Task Seal_is_answered_when_durable_and_again_without_a_record()
    {
        _generations.Recorded = new Epoch(2);
        var request = new SealRegionRequest(new Epoch(2), _region.Key);
        var response = await CallAsync<SealRegionResponse>(request);
        Assert.Equal((Status.Ok, Epoch.First, 5L), (response.Status, response.Generation, response.LastIndex));
        var end = _log.DurableUntil;
        Assert.Equal(Status.Sealed, _log.TryAppend(_region.Put(), out _));
        Assert.Equal(Status.Ok, (await CallAsync<SealRegionResponse>(request)).Status);
        Assert.Equal(end, _log.DurableUntil);
        Assert.Equal(Status.Sealed,
            (await CallAsync<SealRegionResponse>(new SealRegionRequest(Epoch.First, _region.Key), recorded: 1)).Status);
    }

    [Fact]
    public async Task Seal_of_a_generation_that_is_not_recorded_is_refused()
    {
        _generations.Recorded = new Epoch(2);
        var response = await CallAsync<SealRegionResponse>(new SealRegionRequest(new Epoch(3), _region.Key));
        Assert.Equal(Status.NotInstalled, response.Status);
        Assert.Equal(Status.Ok, _log.TryAppend(_region.Put(), out _));
    }

    [Fact]
    public async Task Regions_of_a_deleted_volume_are_dropped_with_all_files()
    {
        var other = new TestRegion(1);
        await StoreLogConformance.AppendAsync(_log, other.Put());
        foreach (var region in (RegionKey[])[_region.Key, other.Key])
        {
            using var writer = _files.Create(new RegionFile(region, 1));
            writer.Write("data"u8);
            await writer.PublishAsync();
        }

        Assert.Equal(1, await StoreSweep.DropAsync(_log, _files, key => key == _region.Key));
        Assert.Equal(other.Key, Assert.Single(_log.Regions).Region);
        Assert.Equal(other.Key, Assert.Single(_files.List()).Region);
        Assert.Equal(0, await StoreSweep.DropAsync(_log, _files, key => key == _region.Key));
        var info = await CallAsync<StoreInfoResponse>(new StoreInfoRequest(Epoch.None));
        Assert.Equal(other.Key, Assert.Single(info.Regions).Region);
    }

    [Fact]
    public async Task Records_are_listed_and_read()
    {
        var listed = await CallAsync<ListLogResponse>(new ListLogRequest(Epoch.First, _region.Key, 2, 3));
        Assert.Equal([2L, 3L, 4L], listed.Records.Select(record => record.Head.Index));
        Assert.True(listed.HasMore);
        var names = listed.Records.Select(r => new RecordName(r.Head.Generation, r.Head.Index));
        var read = await CallAsync<ReadRecordsResponse>(new ReadRecordsRequest(Epoch.First, _region.Key,
            [.. names, new RecordName(new Epoch(9), 1)], 1 << 20));
        Assert.Equal(_region.Records[1].Encode(), read.Records[0].ToArray());
        Assert.Equal(4, read.Records.Length);
        Assert.True(read.Records[3].IsEmpty);
        var some = await CallAsync<ReadRecordsResponse>(
            new ReadRecordsRequest(Epoch.First, _region.Key, [.. names], 1));
        Assert.Single(some.Records);
        Assert.Equal(SalusStatus.NotFound, (await CallAsync<ListLogResponse>(
            new ListLogRequest(Epoch.First, new TestRegion(9).Key, 1, 3))).Status);
    }

    [Fact]
    public async Task Files_are_listed_and_read_in_parts()
    {
        var file = new RegionFile(_region.Key, 1);
        var written = await new CheckpointWriter(_files).WriteAsync(new CheckpointTask(file, 5, default, default),
            CheckpointState.None(_region.Key, 4096, 1),
            new[] { new BlockContent(3, TreeHash.OfBlock(new byte[4096]), new byte[4096]) }.ToAsyncEnumerable());
        _files.Files[new RegionFile(_region.Key, 2)] = [1, 2, 3];
        var listed = await CallAsync<ListFilesResponse>(new ListFilesRequest(Epoch.First, _region.Key));
        Assert.Equal(new ListedFile(written.Name, _files.Length(file)), Assert.Single(listed.Files));
        var bytes = new List<byte>();
        while (true)
        {
            var part = await CallAsync<ReadFileResponse>(
                new ReadFileRequest(Epoch.First, _region.Key, 1, bytes.Count, 1000));
            bytes.AddRange(part.Bytes.Span);
            if (bytes.Count == part.Total) break;
        }

        Assert.Equal(_files.Files[file], bytes);
        Assert.Equal(SalusStatus.NotFound, (await CallAsync<ReadFileResponse>(
            new ReadFileRequest(Epoch.First, _region.Key, 7, 0, 1000))).Status);
    }

    /// <summary>A store that cannot read its folder does not know which files it has: no answer hung the caller, and an
    /// empty one would say that it has none.</summary>
    [Fact]
    public async Task Folder_that_cannot_be_read_is_a_failure_and_no_empty_list()
    {
        _files.ListError = new IOException("broken");
        var request = new ListFilesRequest(Epoch.First, _region.Key);
        Assert.Equal(Status.Failed, (await CallAsync<ListFilesResponse>(request)).Status);
        await Assert.ThrowsAsync<IOException>(() => StoreSweep.DropAsync(_log, _files, key => key == _region.Key));
        Assert.Equal(_region.Key, Assert.Single(_log.Regions).Region);
        _files.ListError = null;
        Assert.Equal(Status.Ok, (await CallAsync<ListFilesResponse>(request)).Status);
        Assert.Equal(1, await StoreSweep.DropAsync(_log, _files, key => key == _region.Key));
    }

    [Fact]
    public async Task Damage_that_the_searches_tell_of_is_added_up()
    {
        var handler = new StoreHandler(TestRegion.Store, _log, _files, _generations, new Scrub(1, 20), new Scrub(2, 3));
        var sink = new Sink();
        handler.Handle(new StoreInfoRequest(Epoch.None), new ReplyTo(sink, 1, default));
        var info = Assert.IsType<StoreInfoResponse>(await sink.Answer.Task);
        Assert.Equal((3, 23), (Assert.Single(info.Regions).Damaged, info.Regions[0].Mended));
    }

    [Fact]
    public async Task Store_tells_state_and_regions()
    {
        var info = await CallAsync<StoreInfoResponse>(new StoreInfoRequest(Epoch.None));
        Assert.Equal((StoreState.Serving, new StoredRegion(_region.Key, Epoch.None, 5)),
            (info.State, Assert.Single(info.Regions)));
        _disk.SyncError = new IOException("broken");
        _log.TryAppend(_region.Put(), out var lsn);
        await Assert.ThrowsAsync<StoreFailedException>(() => _log.WaitDurableAsync(lsn));
        info = await CallAsync<StoreInfoResponse>(new StoreInfoRequest(Epoch.None));
        Assert.Equal(StoreState.Failed, info.State);
        Assert.Equal(Status.Failed,
            (await CallAsync<ListLogResponse>(new ListLogRequest(Epoch.First, _region.Key, 2, 3))).Status);
        _disk.SyncError = null;
    }

    [Fact]
    public async Task Request_of_another_role_is_unsupported() => Assert.Equal(Status.Unsupported,
        (await CallAsync<GetResponse>(new GetRequest(Epoch.First, _region.Key, 0, 1, 0, null))).Status);

    private async Task<TResponse> CallAsync<TResponse>(Request request, long? recorded = null)
        where TResponse : Response
    {
        if (recorded is { } generation) _generations.Recorded = new Epoch(generation);
        var sink = new Sink();
        _handler.Handle(request, new ReplyTo(sink, 1, request.Opcode));
        _handler.BatchEnd();
        return Assert.IsType<TResponse>(await sink.Answer.Task.WaitAsync(TimeSpan.FromSeconds(30)));
    }

    private sealed class Scrub(long damaged, long mended) : IScrubState
    {
        public ScrubCount CountOf(RegionKey region) => new(damaged, mended);
    }

    private sealed class Generations : IGenerations
    {
        public Epoch Recorded { get; set; } = Epoch.First;

        public bool IsRecorded(RegionKey region, Epoch generation) => generation == Recorded;
    }

    private sealed class Sink : IReplySink
    {
        public TaskCompletionSource<Response> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Send(uint correlation, Opcode opcode, Response response) => Answer.SetResult(response);
    }
}
