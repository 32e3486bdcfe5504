using Corfu;

namespace Tango.Tests;

/// <summary>Observers hear what playback does, and nothing else.</summary>
public class ObserverTests
{
    [Fact]
    public async Task Effects_come_once_in_log_order_from_the_given_state()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world);
        var (_, elsewhere) = await OpenAsync(world);
        await watched.AddAsync(100);
        var hears = new Hears();
        using var observation = await runtime.ObserveAsync([watched], hears);
        Assert.Equal(["reset 100", "published"], hears.Told);

        Assert.Equal(103, await elsewhere.AddAsync(3));
        Assert.Equal(105, await watched.AddAsync(2));
        Assert.Equal(["reset 100", "3", "2", "even"], hears.Told.Where(static line => line != "published"));
        Assert.Equal("published", hears.Told[^1]);
        Assert.Equal(hears.Versions.Order(), hears.Versions);
        Assert.Equal(2, hears.Versions.Distinct().Count());
        Assert.All(hears.Versions, version => Assert.True(version.Position < hears.End));
        Assert.Equal(runtime.Log.PlayedTo, hears.End);
    }

    [Fact]
    public async Task Caller_is_answered_after_the_observer_has_heard()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world);
        var hears = new Hears();
        using var observation = await runtime.ObserveAsync([watched], hears);
        for (var i = 1; i <= 100; i += 2)
        {
            await watched.AddAsync(i);
            Assert.Equal([$"{i}", "published"], hears.Told.Skip(hears.Told.Count - 2));
        }
    }

    [Fact]
    public async Task Transaction_has_one_version_and_is_heard_when_committed()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world);
        var second = await runtime.OpenAsync<Watched>("second", OpenMode.Create);
        var hears = new Hears();
        using var observation = await runtime.ObserveAsync([watched, second], hears);
        await using (runtime.BeginTx())
        {
            Assert.Equal(7, await watched.AddAsync(7));
            Assert.Equal(7, await watched.SumAsync());
        }

        await using (var transaction = runtime.BeginTx())
        {
            await watched.AddAsync(1);
            await second.AddAsync(3);
            Assert.IsType<TxOutcome.Committed>(await transaction.EndTxAsync());
        }

        Assert.Equal(["1", "3"], hears.Effects);
        Assert.Equal([watched, second], hears.Handles);
        Assert.Single(hears.Versions.Distinct());
    }

    [Fact]
    public async Task Refused_calls_and_playback_beside_the_player_are_not_heard()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world);
        await watched.AddAsync(1);
        var hears = new Hears();
        using var observation = await runtime.ObserveAsync([watched], hears);
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await watched.AddAsync(-1));
        var past = await runtime.History.OpenAsync(await world.TailAsync());
        Assert.Equal(1, await (await past.OpenAsync<Watched>("watched")).SumAsync());
        await foreach (var change in runtime.History.ChangesAsync<Watched>("watched", LogPosition.Zero))
        {
            if (change.Kind == TangoChangeKind.Update) break;
        }

        Assert.Empty(hears.Effects);
        await watched.AddAsync(5);
        Assert.Equal(["5"], hears.Effects);
    }

    [Fact]
    public void Stopped_object_tells_the_state_of_the_rebuild() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var faults = new Queue<Exception>([new TimeoutException("once")]);
        Watched.Fault = value => value == 5 && faults.TryDequeue(out var fault) ? fault : null;
        var (runtime, watched) = await OpenAsync(world);
        var hears = new Hears();
        using var observation = await runtime.ObserveAsync([watched], hears);
        await watched.AddAsync(1);
        await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await watched.AddAsync(5));
        Assert.Equal("stopped TangoObjectStoppedException", hears.Notable[^1]);
        Assert.Equal(6, await watched.SumAsync());
        await watched.AddAsync(3);
        Assert.Equal(
            ["reset 0", "1", "stopped TangoObjectStoppedException", "reset 6", "3"], hears.Notable);
        Watched.Fault = null;
    });

    [Fact]
    public void Object_behind_a_trim_tells_the_state_of_the_reload() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var (writer, watched) = await OpenAsync(world);
        var (behind, watchedBehind) = await OpenAsync(world);
        var hears = new Hears();
        using var observation = await behind.ObserveAsync([watchedBehind], hears);
        for (var i = 0; i < 10; i++) await watched.AddAsync(1);
        var end = await writer.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(LogPosition.Min(end, await writer.Checkpoints.WriteAsync(watched)));
        await watched.AddAsync(3);

        Assert.Equal(13, await watchedBehind.SumAsync());
        await watchedBehind.AddAsync(5);
        Assert.Equal(["reset 0", "stopped TangoTrimmedException"], hears.Notable.Take(2));
        // A part of what was missed may be played above the checkpoint.
        Assert.StartsWith("reset 1", hears.Notable[2], StringComparison.Ordinal);
        Assert.Equal("5", hears.Notable[^1]);
        var sum = long.Parse(hears.Notable[2]["reset ".Length..], System.Globalization.CultureInfo.InvariantCulture);
        Assert.Equal(18, sum + hears.Effects.Where(static effect => effect != "even").Sum(long.Parse));
    });

    /// <summary>A server that counts publications as words of the log would go on from doubt.</summary>
    [Fact]
    public void Cycle_without_an_answer_of_the_log_has_no_publication() => SeededContext.Run(4, async time =>
    {
        await using var world = new World(time: time);
        var isAway = false;
        var runtime = world.NewRuntime(() => new CountingCursor(world.Log.OpenCursor(), () =>
        {
            if (isAway) throw new TimeoutException("The log is away.");
        }), time);
        var watched = await runtime.OpenAsync<Watched>("watched", OpenMode.Create);
        var hears = new Hears();
        using var observation = await runtime.ObserveAsync([watched], hears);
        isAway = true;
        var told = hears.Told.Count;
        await Assert.ThrowsAsync<TimeoutException>(async () => await watched.SumAsync());
        Assert.Equal(told, hears.Told.Count);
        isAway = false;
        Assert.Equal(1, await watched.AddAsync(1));
        Assert.Equal(["reset 0", "1"], hears.Notable);
    });

    [Fact]
    public void End_of_playback_for_good_is_told_once() => SeededContext.Run(5, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, watched) = await OpenAsync(world);
        var hears = new Hears();
        using var observation = await runtime.ObserveAsync([watched], hears);
        try
        {
            Watched.Fault = static value => value == 5 ? new OutOfMemoryException() : null;
            await Assert.ThrowsAnyAsync<TangoException>(async () => await watched.AddAsync(5));
        }
        finally
        {
            Watched.Fault = null;
        }

        await Assert.ThrowsAsync<TangoPlaybackFailedException>(async () => await watched.SumAsync());
        await Assert.ThrowsAsync<TangoPlaybackFailedException>(async () => await watched.SumAsync());
        Assert.Equal(["reset 0", "stopped TangoPlaybackFailedException"], hears.Notable);
    });

    [Fact]
    public async Task Deletion_is_told()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world);
        var hears = new Hears();
        using var observation = await runtime.ObserveAsync([watched], hears);
        await runtime.Directory.DeleteAsync("watched");
        await runtime.SyncAsync();
        Assert.Equal(["reset 0", "stopped TangoObjectDeletedException"], hears.Notable);
    }

    [Fact]
    public async Task Failing_observer_is_told_to_stop_and_disturbs_no_other()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world);
        Hears broken = new() { FailsAt = "3" }, hears = new();
        using var first = await runtime.ObserveAsync([watched], broken);
        using var second = await runtime.ObserveAsync([watched], hears);
        Assert.Equal(3, await watched.AddAsync(3));
        Assert.Equal(8, await watched.AddAsync(5));
        Assert.Equal(["reset 0", "stopped InvalidOperationException"], broken.Notable);
        Assert.Equal(["reset 0", "3", "5"], hears.Notable);
    }

    [Fact]
    public async Task Logger_that_fails_with_an_observer_disturbs_no_other_observer()
    {
        await using var world = new World();
        var logger = new BrokenLogger();
        var runtime = world.NewRuntime(null, logger);
        var watched = await runtime.OpenAsync<Watched>("watched", OpenMode.Create);
        Hears hears = new(), broken = new() { FailsAt = "3" };
        using var first = await runtime.ObserveAsync([watched], hears);
        using var second = await runtime.ObserveAsync([watched], broken);
        Assert.Equal(3, await watched.AddAsync(3));
        Assert.Equal(8, await watched.AddAsync(5));
        Assert.Equal(1, logger.Failures);
        Assert.Equal(["reset 0", "3", "5"], hears.Notable);
        Assert.Equal(["reset 0", "stopped InvalidOperationException"], broken.Notable);
    }

    [Fact]
    public async Task Disposed_observation_is_silent_and_ends_the_use_of_objects()
    {
        await using var world = new World();
        await OpenAsync(world);
        var runtime = world.NewRuntime(new TangoOptions { RemoteStay = TimeSpan.Zero });
        var remote = await runtime.OpenRemoteAsync<Watched>("watched");
        var hears = new Hears();
        var observation = await runtime.ObserveAsync([remote], hears);
        await remote.AddAsync(1);
        await runtime.SyncAsync();
        Assert.True(runtime.Services.Playback.Hosted.IsOpen(remote.ObjectId));
        observation.Dispose();
        observation.Dispose();
        await remote.AddAsync(3);
        await runtime.SyncAsync();
        Assert.Equal(["reset 0", "1"], hears.Notable);
        Assert.False(runtime.Services.Playback.Hosted.IsOpen(remote.ObjectId));
    }

    /// <summary>The call has two effects.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Disposed_observation_calls_the_observer_no_more(bool fails)
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world);
        var hears = new Hears();
        var observation = await runtime.ObserveAsync([watched], hears);
        hears.Heard = _ =>
        {
            observation.Dispose();
            if (fails) throw new InvalidOperationException("broken");
        };
        Assert.Equal(2, await watched.AddAsync(2));
        Assert.Equal("2", hears.Told[^1]);
    }

    [Fact]
    public async Task Write_only_foreign_and_doubled_objects_cannot_be_observed()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world);
        var (other, _) = await OpenAsync(world);
        var written = await other.OpenWriteOnlyAsync<Watched>("watched");
        await Assert.ThrowsAsync<TangoNotHostedException>(async () => await other.ObserveAsync([written], new Hears()));
        await Assert.ThrowsAsync<TangoTransactionException>(
            async () => await other.ObserveAsync([watched], new Hears()));
        await Assert.ThrowsAsync<ArgumentException>(
            async () => await runtime.ObserveAsync([watched, watched], new Hears()));
    }

    private static async Task<(TangoRuntime Runtime, Watched Watched)> OpenAsync(World world)
    {
        var runtime = world.NewRuntime();
        return (runtime, await runtime.OpenAsync<Watched>("watched", OpenMode.Create));
    }

    private sealed class Hears : IApplyObserver
    {
        public string? FailsAt { get; init; }

        /// <summary>Called with each effect that was heard.</summary>
        public Action<string>? Heard { get; set; }

        public List<string> Told { get; } = [];

        public List<string> Effects { get; } = [];

        public List<TangoObject> Handles { get; } = [];

        public List<RecordVersion> Versions { get; } = [];

        public LogPosition End { get; private set; }

        /// <summary>Without publications, of which there may be more.</summary>
        public List<string> Notable => [.. Told.Where(static line => line != "published")];

        public void OnReset(TangoObject handle, ObservedView view) => Told.Add($"reset {Watched.SumIn(view)}");

        public void OnApplied(TangoObject handle, RecordVersion version, object effect)
        {
            if ($"{effect}" == FailsAt) throw new InvalidOperationException("broken");
            Told.Add($"{effect}");
            Effects.Add($"{effect}");
            Handles.Add(handle);
            Versions.Add(version);
            Heard?.Invoke($"{effect}");
        }

        public void OnPublished(LogPosition end)
        {
            End = end;
            Told.Add("published");
        }

        public void OnStopped(TangoObject handle, Exception reason) => Told.Add($"stopped {reason.GetType().Name}");
    }
}
