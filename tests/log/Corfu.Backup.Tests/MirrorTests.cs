using Corfu.Agent;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup.Tests;

public sealed class MirrorTests
{
    private static LogMirror Mirror(CorfuClient source, CorfuClient target) =>
        new(source, target, TimeProvider.System, Logs.Small);

    /// <summary>Runs a mirror until the condition holds of its progress.</summary>
    private static async Task RunUntilAsync(CorfuClient source, CorfuClient target, Func<CopyProgress, bool> until)
    {
        using var stop = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        var reached = false;
        var mirror = new LogMirror(source, target, TimeProvider.System, Logs.Small)
        {
            Progress = p =>
            {
                if (!until(p)) return;
                reached = true;
                stop.Cancel();
            },
        };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => mirror.RunAsync(stop.Token));
        Assert.True(reached, "the mirror did not get there in time");
    }

    [Fact]
    public async Task Mirror_holds_the_log_and_all_streams()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(2, 1, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        await Mirror(source, target).CatchUpAsync();
        Assert.Equal((await source.AllAsync()).Lines(), (await target.AllAsync()).Lines());
        Assert.Equal(await source.WalkAsync(Logs.Odd, 8), await target.WalkAsync(Logs.Odd, 8));
        Assert.Equal(await source.WalkAsync(Logs.Even, 8), await target.WalkAsync(Logs.Even, 8));
    }

    /// <summary>TOCS 3: copying growing prefixes of the log; lag is shown, and goes to nothing.</summary>
    [Fact]
    public async Task Mirror_follows_while_the_source_is_written()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        var appending = source.AppendAsync(1000, 300);
        await RunUntilAsync(a.Client(), target, p => p.Lag == 0 && p.Copied.Offset == 341);
        await appending;
        Assert.Equal((await source.AllAsync()).Lines(), (await target.AllAsync()).Lines());
    }

    /// <summary>Every state of a mirror is a prefix: a reader never meets a hole, and never fills one.</summary>
    [Fact]
    public async Task A_reader_of_the_mirror_sees_prefixes_only()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync(200);
        var expected = (await source.AllAsync()).Lines().ToList();
        await MirrorTarget.AttachAsync(b.Client(), a.Id);
        var reader = b.Client();
        using var stop = new CancellationTokenSource();
        var reading = Task.Run(async () =>
        {
            long seen = 0;
            bool last;
            do
            {
                last = stop.IsCancellationRequested;
                var log = await reader.AllAsync();
                Assert.True(log.Length >= seen);
                seen = log.Length;
                Assert.DoesNotContain(log, p => p.State == PageState.Unwritten);
                Assert.Equal(expected.Skip(7).Take(log.Length - 7), log.Lines().Skip(7));
            }
            while (!last);

            Assert.Equal(201, seen);
        });
        await Mirror(source, b.Client()).CatchUpAsync();
        await stop.CancelAsync();
        await reading;
    }

    [Fact]
    public async Task Nobody_appends_or_fills_before_the_promotion()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        await Mirror(source, target).CatchUpAsync();
        await Assert.ThrowsAsync<LogIsMirrorException>(() => b.Client().AppendAsync(0, 1));
        await new MirrorPromotion(target, null, TimeProvider.System).RunAsync();
        await b.Client().AppendAsync(0, 1);
        Assert.Equal(42, (await target.CheckAsync([])).Tail.Offset);
        await Assert.ThrowsAsync<BackupException>(() => Mirror(source, target).CatchUpAsync());
    }

    [Fact]
    public async Task A_promoted_log_is_not_copied_over()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        await Mirror(source, target).CatchUpAsync();
        var running = Mirror(source, b.Client()).RunAsync();
        await new MirrorPromotion(target, null, TimeProvider.System).RunAsync();
        await source.AppendAsync(500, 5);
        await Assert.ThrowsAsync<CopyRefusedException>(() => running);
        await b.Client().AppendAsync(0, 3);
        Assert.Equal(44, (await target.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Promotion_with_the_source_at_hand_loses_no_entry()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        await Mirror(source, target).CatchUpAsync();
        await source.AppendAsync(500, 25);
        await new MirrorPromotion(target, source, TimeProvider.System).RunAsync();
        Assert.Equal((await source.AllAsync()).Lines(), (await target.AllAsync()).Lines());
    }

    [Fact]
    public async Task Both_sides_may_be_reconfigured()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        var mirrored = a.Client();
        var writing = Task.Run(async () =>
        {
            for (var i = 0; i < 10; i++)
            {
                await source.AppendAsync(1000 + (i * 20), 20);
                await a.Client().Cluster.ReconfigureAsync(Membership.Of, "test");
                await b.Client().Cluster.ReconfigureAsync(Membership.Of, "test");
            }
        });
        await RunUntilAsync(mirrored, target, p => writing.IsCompleted && p.Lag == 0 && p.Copied.Offset >= 241);
        await writing;
        Assert.Equal((await source.AllAsync()).Lines(), (await target.AllAsync()).Lines());
        Assert.Equal(await source.WalkAsync(Logs.Odd, 8), await target.WalkAsync(Logs.Odd, 8));
    }

    /// <summary>The heads of the mirror's chains lose a unit while copies are under way: some positions below the new
    /// start are missing then.</summary>
    [Fact]
    public async Task Mirror_whose_unit_dies_during_writes_goes_on()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync(200);
        var target = b.Client();
        var dead = b.Units[0];
        var writes = 0;
        b.Transport.Faults = (to, request) => ValueTask.FromResult(
            request is CompleteRequest && to == dead && Interlocked.Increment(ref writes) > 30
                ? Fault.RequestLost
                : Fault.None);
        var mirroring = RunUntilAsync(a.Client(), target, p => p.Lag == 0 && p.Copied.Offset == 201);
        while (Volatile.Read(ref writes) <= 30) await Task.Yield();
        b.Transport.Stop(dead.Id);
        await b.Client().Cluster.ReconfigureAsync(p => p.HasUnit(dead.Id) ? Membership.Of(p).Without(dead.Id) : null,
            "unit 0 is dead");
        await mirroring;
        Assert.Equal((await source.AllAsync()).Lines(), (await b.Client().AllAsync()).Lines());
        Assert.Equal(await source.WalkAsync(Logs.Even, 8), await b.Client().WalkAsync(Logs.Even, 8));
    }

    /// <summary>R15 in a mirror: below the new start copies still arrive, and no client fills. The rebuild waits for
    /// them.</summary>
    [Fact]
    public async Task Unit_of_the_mirror_is_rebuilt_while_copies_of_the_range_still_arrive()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync(200);
        var target = b.Client();
        await RunUntilAsync(source, target, p => p.Copied.Offset >= 100);
        var (dead, spare) = (b.Units[0], await b.AddUnitAsync());
        b.Transport.Stop(dead.Id);
        var operations = new ClusterOperations(target.Cluster, b.Transport, TimeProvider.System);
        await operations.ReplaceUnitAsync(dead.Id, [spare], "dead");
        var options = new RebuildOptions
        {
            Batch = 16,
            RetryDelay = TimeSpan.FromMilliseconds(1),
            MaxRetryDelay = TimeSpan.FromMilliseconds(5)
        };
        var rebuilding = new Rebuilder(
            b.Client().Cluster, b.Transport, TimeProvider.System, options: options).RunAsync();
        await Mirror(source, b.Client()).CatchUpAsync();
        var rebuilt = await rebuilding;
        Assert.False(Rebuilder.IsNeeded(rebuilt));

        var whole = (await source.AllAsync()).Lines().Count();
        for (var i = 0; i < whole; i++)
        {
            var position = new LogPosition(i);
            var chain = rebuilt.ChainOf(position);
            if (!chain.Replicas.Any(r => r.Unit == spare.Id)) continue;
            var (there, partner) =
                (await b.LookAsync(spare, position), chain.Replicas.First(r => r.Unit != spare.Id).Unit);
            Assert.Equal((await b.LookAsync(rebuilt.AddressOf(partner), position)).Origin, there.Origin);
            Assert.NotEqual(PageState.Unwritten, there.State);
        }
    }

    [Fact]
    public async Task A_window_that_was_left_half_written_is_finished()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        await MirrorTarget.AttachAsync(target, a.Id);
        var log = await source.AllAsync();
        var writer = target.Cluster.CopyWriter(a.Id);
        foreach (var position in new[] { 10, 12, 13, 30 }) await writer.PutAsync(log[position].Entry!);
        await b.Client().Cluster.ReconfigureAsync(Membership.Of, "the start is above holes now");
        var refused =
            await Assert.ThrowsAsync<BackupException>(
                () => new MirrorPromotion(target, null, TimeProvider.System).RunAsync());
        Assert.Contains("missing", refused.Message, StringComparison.Ordinal);
        await RunUntilAsync(source, b.Client(), p => p.Lag == 0 && p.Copied.Offset == 41);
        Assert.Equal(log.Lines(), (await target.AllAsync()).Lines());
        Assert.Equal(await source.WalkAsync(Logs.Odd, 8), await target.WalkAsync(Logs.Odd, 8));
    }

    [Fact]
    public async Task Holes_become_junk_when_the_operator_says_so()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var log = await (await a.FillAsync()).AllAsync();
        var target = b.Client();
        await MirrorTarget.AttachAsync(target, a.Id);
        var writer = target.Cluster.CopyWriter(a.Id);
        foreach (var position in new[] { 10, 12 }) await writer.PutAsync(log[position].Entry!);
        var holes = await new MirrorPromotion(target, null, TimeProvider.System).RunAsync(acceptHoles: true);
        Assert.Equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11], holes.Select(h => h.Offset));
        var promoted = await target.AllAsync();
        Assert.Equal(2, promoted.Count(p => p.IsData));
        Assert.Equal(11, promoted.Count(p => p.State == PageState.Junk));
    }

    [Fact]
    public async Task Trims_of_the_source_follow()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        await Mirror(source, target).CatchUpAsync();
        await source.TrimPrefixAsync(new LogPosition(25));
        await Mirror(source, target).CatchUpAsync();
        Assert.Equal(25, (await target.Cluster.FindExtentAsync()).TrimMark.Offset);
        await source.AppendAsync(500, 40);
        await source.TrimPrefixAsync(new LogPosition(60));
        await Mirror(source, b.Client()).CatchUpAsync();
        Assert.Equal((await source.AllAsync()).Lines(), (await target.AllAsync()).Lines());
        Assert.Equal(81, (await target.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task R22_a_mirror_knows_the_streams_that_were_trimmed_before_the_first_copy()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(2, 2, number: 2);
        var source = await a.TrimStreamsAsync();
        var target = b.Client();
        await Mirror(source, target).CatchUpAsync();
        await Logs.AssertTrimmedAsync(b.Client());
        await Mirror(source, b.Client()).CatchUpAsync();
        await new MirrorPromotion(target, null, TimeProvider.System).RunAsync();
        await Logs.AssertTrimmedAsync(b.Client());
    }

    /// <summary>The mark was brought, and the copier killed before what belongs to it.</summary>
    [Fact]
    public async Task R22_a_mirror_that_was_cut_short_behind_the_mark_is_told_the_streams_the_next_time()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(2, 2, number: 2);
        var source = await a.TrimStreamsAsync();
        using var stop = new CancellationTokenSource();
        b.Transport.Faults = (_, request) =>
        {
            if (request is ImportStreamTailsRequest) stop.Cancel();
            return new(stop.IsCancellationRequested ? Fault.Refused : Fault.None);
        };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => Mirror(source, b.Client()).CatchUpAsync(stop.Token));
        b.Transport.Faults = null;
        var target = b.Client();
        Assert.Equal(24, (await target.Cluster.FindExtentAsync()).TrimMark.Offset);
        await Mirror(source, target).CatchUpAsync();
        await new MirrorPromotion(target, null, TimeProvider.System).RunAsync();
        await Logs.AssertTrimmedAsync(b.Client());
    }

    [Fact]
    public async Task R22_a_mark_that_came_to_some_units_only_is_brought_to_all_the_next_time()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.TrimStreamsAsync();
        using var stop = new CancellationTokenSource();
        b.Transport.Faults = (to, request) =>
        {
            if (request is not TrimPrefixRequest || to.Id == b.Units[0].Id) return new(Fault.None);
            stop.Cancel();
            return new(Fault.Refused);
        };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => Mirror(source, b.Client()).CatchUpAsync(stop.Token));
        b.Transport.Faults = null;
        var target = b.Client();
        Assert.Equal(24, (await target.Cluster.FindExtentAsync()).TrimMark.Offset);
        await Mirror(source, target).CatchUpAsync();
        await Logs.AssertTrimmedAsync(b.Client());
        foreach (var unit in b.Units)
            Assert.Equal(24,
                (await b.Transport.CallAsync(unit, new UnitInfoRequest(Epoch.None),
                    TestContext.Current.CancellationToken)).TrimMark.Offset);
    }

    [Fact]
    public async Task R22_streams_trimmed_right_before_the_copy_stay_known()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(2, 2, number: 2);
        var source = a.Client();
        await source.AppendAsync(0, 400);
        for (var i = 0; i < 10; i++) (await source.AppendAsync("late"u8.ToArray(), [Logs.Late])).Require();
        var target = b.Client();
        var trim = Task.CompletedTask;
        var mirror = new LogMirror(source, target, TimeProvider.System,
            Logs.Small with { TrimInterval = TimeSpan.FromHours(1) })
        {
            Progress = progress =>
            {
                if (trim.IsCompleted && progress.Copied.Offset < 400)
                    trim = source.TrimPrefixAsync(new LogPosition(410)).AsTask();
            },
        };
        await mirror.CatchUpAsync();
        await trim;
        Assert.Equal([409, 408, 407, 406], (await b.Client().CheckAsync([Logs.Late])).Streams[0].Positions
            .Select(p => p.Offset));
        await new MirrorPromotion(target, null, TimeProvider.System).RunAsync();
        Assert.Equal([409, 408, 407, 406], (await b.Client().CheckAsync([Logs.Late])).Streams[0].Positions
            .Select(p => p.Offset));
    }

    [Fact]
    public async Task A_foreign_value_is_a_fatal_divergence()
    {
        await using var a = await TestCluster.StartAsync(3, 2);
        await using var b = await TestCluster.StartAsync(3, 2, number: 2);
        var source = await a.FillAsync();
        var target = b.Client();
        await MirrorTarget.AttachAsync(target, a.Id);
        var epoch = target.Projection.Epoch;
        var foreign = new LogEntry(
            new LogPosition(20, epoch),
            new EntryOrigin(new WriterId(new Guid("00000000-0000-0000-0000-00000000000f")), 1), EntryKind.Data,
            DateTimeOffset.UnixEpoch, [], new byte[] { 1 });
        var chain = target.Projection.ChainOf(foreign.Position);
        await b.Transport.CallAsync(target.Projection.AddressOf(chain.Head),
            new WriteRequest(epoch, EntryCodec.Encode(foreign)), default);
        var diverged = await Assert.ThrowsAsync<LogDivergedException>(() => Mirror(source, target).RunAsync());
        Assert.Equal(20, diverged.Position.Offset);
    }

    [Fact]
    public async Task Another_source_is_refused()
    {
        await using var a = await TestCluster.StartAsync(1, 1);
        await using var b = await TestCluster.StartAsync(1, 1, number: 2);
        await using var c = await TestCluster.StartAsync(1, 1, number: 3);
        var target = b.Client();
        await Mirror(await a.FillAsync(), target).CatchUpAsync();
        await Assert.ThrowsAsync<BackupException>(async () => await Mirror(await c.FillAsync(), target).CatchUpAsync());
        await Assert.ThrowsAsync<BackupException>(() => Mirror(target, target).CatchUpAsync());
        await Assert.ThrowsAsync<BackupException>(
            () => new MirrorPromotion(target, c.Client(), TimeProvider.System).RunAsync());
    }

    [Fact]
    public async Task Clusters_out_of_reach_are_waited_for()
    {
        await using var a = await TestCluster.StartAsync(1, 1);
        await using var b = await TestCluster.StartAsync(1, 1, number: 2);
        var source = await a.FillAsync();
        var impatient = TestCluster.Options with { OperationTimeout = TimeSpan.FromMilliseconds(20) };
        var down = true;
        b.Transport.Faults = (_, r) => ValueTask.FromResult(down && r is CompleteRequest ? Fault.Refused : Fault.None);
        var target = b.Client(impatient);
        using var stop = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        List<string> troubles = [];
        var mirror = new LogMirror(source, target, TimeProvider.System, Logs.Small)
        {
            Trouble = t =>
            {
                troubles.Add(t);
                down = troubles.Count < 2;
            },
            Progress = p =>
            {
                if (p.Copied.Offset == 41) stop.Cancel();
            },
        };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => mirror.RunAsync(stop.Token));
        Assert.Equal(2, troubles.Count);
        Assert.Equal((await source.AllAsync()).Lines(), (await b.Client().AllAsync()).Lines());
    }
}
