using Corfu.StateMachines.Snapshots;
using Corfu.StateMachines.State;
using Corfu.StateMachines.Tests.Support;

namespace Corfu.StateMachines.Tests.Rules;

/// <summary>M5: damaged pages, and snapshots that could not be loaded.</summary>
public sealed class DamageRuleTests
{
    [Theory]
    [InlineData(PageState.Trimmed)]
    [InlineData(PageState.Corrupt)]
    public async Task M5_older_snapshot_is_found_before_a_lost_record(PageState state)
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        await world.AddAsync(replica, "a");
        var older = await world.Do(replica.SnapshotAsync().AsTask());
        await world.AddAsync(replica, "b");
        await world.Do(replica.SnapshotAsync().AsTask());
        await world.Log.TrimPrefixAsync(older);
        var newest = (await world.EntriesAsync(World.Snapshots, older))[^1].Position;
        var gate = new GatedLog(world.Log) { Page = Damage(newest, state) };

        Assert.Equal("a=1\nb=1\n", await world.ShowAsync(await world.OpenAsync(log: gate)));
    }

    [Fact]
    public async Task M5_copies_of_a_record_in_doubt_do_not_push_the_older_snapshot_out()
    {
        await using var world = new World();
        var replica = await world.OpenAsync();
        var older = await world.Do(replica.SnapshotAsync().AsTask());
        await world.AddAsync(replica, "a");
        var newer = await world.Do(replica.SnapshotAsync().AsTask());
        var record = (await world.EntriesAsync(World.Snapshots))[^1].Payload;
        for (var i = 0; i < 8; i++) await world.Log.AppendAsync(record, [World.Snapshots]);

        var found = await new SnapshotStore(world.Log, World.Name, world.Options).NewestAsync(CancellationToken.None);
        Assert.Equal([newer, older], found.Select(snapshot => snapshot.End));
    }

    [Fact]
    public async Task M5_snapshot_too_long_to_be_loaded_is_not_written()
    {
        await using var world = new World();
        var store = new SnapshotStore(world.Log, World.Name, world.Options) { MostBytes = 100 };
        await Assert.ThrowsAsync<MachineException>(() => store.WriteAsync(Captured(97), CancellationToken.None));
        Assert.Empty(await world.EntriesAsync(World.Snapshots));
        await store.WriteAsync(Captured(96), CancellationToken.None);
        Assert.Single(await world.EntriesAsync(World.Snapshots));
    }

    [Fact]
    public async Task M5_snapshot_with_more_chunks_than_a_record_can_name_is_given_up_early()
    {
        var log = new InMemoryCorfuLog(new InMemoryLogOptions { MaxPayload = 128 });
        var store = new SnapshotStore(log, World.Name, new ReplicaOptions());
        await Assert.ThrowsAsync<MachineException>(() => store.WriteAsync(Captured(100_000), CancellationToken.None));
        Assert.InRange((await log.CheckAsync([])).Tail.Offset, 1, 128);
        await store.WriteAsync(Captured(5_000), CancellationToken.None);
        var written = Assert.Single(await store.NewestAsync(CancellationToken.None));
        await store.VerifyAsync(written, CancellationToken.None);
    }

    [Fact]
    public async Task M5_replica_sees_the_repair_of_a_damaged_page()
    {
        await using var world = new World();
        world.Options = world.Options with { Attempts = 1000 };
        var (gate, reader, page, _) = await BehindAsync(world);
        gate.Page = Damage(page, PageState.Corrupt);
        gate.LetChecksGo();
        await Assert.ThrowsAsync<PageCorruptException>(() => world.ShowAsync(reader));
        gate.Page = sound => sound;
        Assert.Equal("a=1\n", await world.ShowAsync(reader));
    }

    [Fact]
    public async Task M5_replica_goes_on_from_a_snapshot_beyond_a_damaged_page()
    {
        await using var world = new World();
        var (gate, reader, page, writer) = await BehindAsync(world);
        await world.Do(writer.SnapshotAsync().AsTask());
        gate.Page = Damage(page, PageState.Corrupt);
        gate.LetChecksGo();
        await world.PassAsync(TimeSpan.FromSeconds(1));
        Assert.Equal("a=1\n", await world.ShowAsync(reader));
    }

    [Fact]
    public async Task M5_replica_at_a_page_that_stays_damaged_stops()
    {
        await using var world = new World();
        var (gate, reader, page, _) = await BehindAsync(world);
        var waiting = reader.ProposeAsync(SumMachine.Bytes("b")).AsTask();
        gate.Page = Damage(page, PageState.Corrupt);
        gate.LetChecksGo();
        await world.PassAsync(TimeSpan.FromMinutes(1));

        Assert.True(reader.Stopped.IsCompleted);
        Assert.IsType<PageCorruptException>((await reader.Stopped).InnerException);
        Assert.Equal(CommandStatus.InDoubt, (await world.Do(waiting)).Status);
    }

    /// <summary>A reader that has not played the page of a command.</summary>
    private static async Task<(GatedLog Gate, Replica<SumMachine> Reader, LogPosition Page, Replica<SumMachine> Writer)>
        BehindAsync(World world)
    {
        var gate = new GatedLog(world.Log);
        var writer = await world.OpenAsync();
        var reader = await world.OpenAsync(log: gate);
        gate.HoldChecks();
        await world.AddAsync(writer, "a");
        return (gate, reader, (await world.EntriesAsync(World.Commands))[^1].Position, writer);
    }

    private static Func<LogReadResult, LogReadResult> Damage(LogPosition position, PageState state) =>
        page => page.Position == position ? new LogReadResult(position, state, null) : page;

    private static CapturedState Captured(int bytes) =>
        new(new byte[bytes], new PlayedMark(LogPosition.Zero, 0), new SumMachine().Capture());
}
