using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

public sealed class HandlerTests
{
    [Fact]
    public async Task Answers_leave_exactly_when_the_record_is_durable()
    {
        var store = new MemoryPageStore(commitByHand: true);
        var unit = await HandlerClient.OpenAsync(store, install: false);
        var install = unit.AskAsync(new InstallRequest(Entries.Projection(1)));
        Assert.False(install.IsCompleted);
        store.MakeDurable(store.AppendedUntil);
        await install;
        var write = unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(0, sequence: 1)));
        var first = store.AppendedUntil;
        var loser = unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(0, sequence: 2)));
        var read = unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(0), ReadDetail.Full));
        var second = unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(1)));
        var other = unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(7), ReadDetail.State));
        Assert.Equal(PageState.Unwritten, (await other).Pages[0].State);
        Assert.False(write.IsCompleted || loser.IsCompleted || read.IsCompleted || second.IsCompleted);
        store.MakeDurable(first);
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal(Status.AlreadyWritten, (await loser).Status);
        Assert.Equal(PageState.Data, (await read).Pages[0].State);
        Assert.False(second.IsCompleted);
        store.MakeDurable(store.AppendedUntil);
        Assert.Equal(Status.Ok, (await second).Status);
    }

    [Fact]
    public async Task Answers_of_one_sync_are_corked_and_a_lone_one_is_not()
    {
        var store = new MemoryPageStore(commitByHand: true);
        var unit = await HandlerClient.OpenAsync(store, install: false);
        var install = unit.AskAsync(new InstallRequest(Entries.Projection(1)));
        store.MakeDurable(store.AppendedUntil);
        await install;
        Assert.Equal(0, unit.Flushes);
        var writes = Enumerable.Range(0, 5)
            .Select(i => unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(i)))).ToList();
        store.MakeDurable(store.AppendedUntil);
        Assert.All(await Task.WhenAll(writes), answer => Assert.Equal(Status.Ok, answer.Status));
        Assert.Equal(1, unit.Flushes);
    }

    [Fact]
    public async Task A_failure_answers_everything_that_waits_and_everything_after()
    {
        var store = new MemoryPageStore(commitByHand: true);
        var unit = await HandlerClient.OpenAsync(store, install: false);
        var install = unit.AskAsync(new InstallRequest(Entries.Projection(1)));
        store.Observer!.OnFailed(new IOException("gone"));
        Assert.Equal(Status.Failed, (await install).Status);
        Assert.Equal(Status.Failed, (await unit.AskAsync(new UnitInfoRequest(Epoch.None))).Status);
        Assert.Equal("gone", (await unit.Handler.Fault).Message);
    }

    [Fact]
    public async Task Waiting_answers_are_limited()
    {
        var store = new MemoryPageStore(commitByHand: true);
        var unit = await HandlerClient.OpenAsync(store, new UnitHandlerOptions { MaxWaitingAnswers = 3 },
            install: false);
        var install = unit.AskAsync(new InstallRequest(Entries.Projection(1)));
        var writes = Enumerable.Range(0, 5).Select(i => unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(i))))
            .ToList();
        Assert.Equal(3, writes.Count(w => w.IsCompleted));
        Assert.All(writes.Where(w => w.IsCompleted), w => Assert.Equal(Status.Overloaded, w.Result.Status));
        store.MakeDurable(store.AppendedUntil);
        await install;
        Assert.Equal(Status.Ok, (await writes[0]).Status);
        // Overloaded means that nothing was done.
        var states =
            (await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(1, 2, 3, 4), ReadDetail.State))).Pages;
        Assert.Equal([PageState.Data, PageState.Unwritten, PageState.Unwritten, PageState.Unwritten],
            states.Select(p => p.State));
    }

    [Fact]
    public async Task A_damaged_page_found_by_a_read_is_corrupt_from_then_on()
    {
        var files = new RecordingFiles();
        var maps = new MemoryMapFiles();
        var unit = await HandlerClient.OpenAsync(Stores.Plain(files, maps, Stores.Small));
        await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(0, payload: "unmistakable")));
        await unit.Handler.DisposeAsync();
        // Read back whole, and damaged from then on.
        unit = await HandlerClient.OpenAsync(Stores.Plain(files, maps, Stores.Small), install: false);
        var segment = new byte[files.Length(0)];
        files.Read(0, 0, segment);
        files.Damage(0, segment.AsSpan().IndexOf("unmistakable"u8), b => (byte)(b ^ 1));
        Assert.Equal(PageState.Corrupt,
            (await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(0), ReadDetail.Full))).Pages[0].State);
        Assert.Equal(PageState.Corrupt,
            (await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(0), ReadDetail.State))).Pages[0].State);
        Assert.Equal(Status.Corrupt, (await unit.AskAsync(new FillRequest(Epoch.First, Entries.Junk(0)))).Status);
        Assert.Equal(1, (await unit.AskAsync(new UnitInfoRequest(Epoch.First))).CorruptPages);
    }

    [Fact]
    public async Task A_read_that_waited_for_durability_and_then_for_the_disk_is_answered()
    {
        var options = Stores.Small with { HotBytes = Stores.Small.LogPageSize };
        await using var store = Stores.Plain(new RecordingFiles(), new MemoryMapFiles(), options);
        var unit = await HandlerClient.OpenAsync(store);
        for (var i = 0; i < 60; i++)
            await unit.AskUntilTakenAsync(new WriteRequest(Epoch.First, Entries.Data(i, new byte[1000])));
        var trim = unit.Send(new TrimPrefixRequest(Epoch.First, new LogPosition(1)));
        var read = unit.Send(new ReadRequest(Epoch.First, Entries.Positions(2), ReadDetail.Full));
        unit.Handler.BatchEnd();
        Assert.Equal(Status.Ok, (await trim).Status);
        Assert.Equal(PageState.Data, (await read.WaitAsync(TimeSpan.FromSeconds(60))).Pages[0].State);
    }

    [Fact]
    public async Task Sixty_four_callers_on_disk_get_each_answer_once()
    {
        using var folder = new TempFolder();
        await using var store = Stores.Faster(folder.Path, new PageStoreOptions());
        var unit = await HandlerClient.OpenAsync(store);
        var results = await Task.WhenAll(Enumerable.Range(0, 64).Select(caller => Task.Run(async () =>
        {
            var won = 0;
            for (var i = 0; i < 50; i++)
            {
                // Two callers compete for each position.
                var write =
                    await unit.AskAsync(new WriteRequest(Epoch.First,
                        Entries.Data((caller / 2 * 50) + i, sequence: caller)));
                if (write.Status == Status.Ok) won++;
                else Assert.Equal(Status.AlreadyWritten, write.Status);
            }

            return won;
        })));
        Assert.Equal(32 * 50, results.Sum());
        var all = Enumerable.Range(0, 32 * 50).Select(i => (long)i).ToArray();
        var pages = (await unit.AskAsync(new ReadRequest(Epoch.First, Entries.Positions(all), ReadDetail.Full))).Pages;
        Assert.All(pages, p => Assert.Equal(PageState.Data, p.State));
        Assert.All(pages, p => Assert.Equal(p.Origin, EntryCodec.Decode(p.Bytes).Origin));
    }
}
