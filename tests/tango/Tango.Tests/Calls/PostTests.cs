using Corfu;
using Tango.Testing;

namespace Tango.Tests.Calls;

/// <summary>Updates without a task: the sink hears the fate of each before the next batch is sent.</summary>
public class PostTests
{
    private static readonly TangoOptions s_oneByOne = new() { MaxBatchRecords = 1, MaxResolveAttempts = 0 };

    [Fact]
    public async Task Posts_stand_in_the_order_of_the_calls_and_are_played()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world, new TangoOptions { MaxBatchRecords = 7 });
        var hears = new Observer();
        using var observation = await runtime.ObserveAsync([watched], hears);
        var sink = new Sink();
        for (var i = 1; i <= 99; i += 2) watched.Post(i, sink);
        await sink.HasToldAsync(50);
        Assert.Equal(50, sink.Versions.Count);
        Assert.Equal(sink.Versions.Order(), sink.Versions);
        // An update plays everything before it.
        await watched.AddAsync(101);
        Assert.Equal(Enumerable.Range(0, 51).Select(i => (object)(long)(2 * i + 1)), hears.Effects);
    }

    [Fact]
    public async Task Posted_update_is_played_without_another_call()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world, new TangoOptions());
        var heard = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var hears = new Observer { OnEffect = heard.SetResult };
        using var observation = await runtime.ObserveAsync([watched], hears);
        watched.Post(1, new Sink());
        await heard.Task;
        Assert.Equal([1L], hears.Effects);
    }

    /// <summary>The first update is in doubt, and may become junk. A later one of the same client must not stand
    /// behind it.</summary>
    [Fact]
    public async Task Sink_hearing_of_doubt_withdraws_the_followers()
    {
        var next = AppendFault.None;
        var first = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var holds = false;
        await using var world = new World(new InMemoryLogOptions
        {
            NextAppendFault = () => next,
            AroundAppend = async _ =>
            {
                if (holds) await first.Task;
            },
        });
        var (_, watched) = await OpenAsync(world, s_oneByOne);
        (holds, next) = (true, AppendFault.LostAndUnknown);
        var followers = new List<TangoPost>();
        var withdrawn = new List<bool>();
        var sink = new Sink();
        sink.InDoubt = () =>
        {
            next = AppendFault.None;
            withdrawn.AddRange(followers.Select(static post => post.TryWithdraw()));
        };
        var doubted = watched.Post(1, sink);
        followers.Add(watched.Post(2, sink));
        followers.Add(watched.Post(3, sink));
        var other = new Sink();
        watched.Post(4, other);
        Assert.False(doubted.TryWithdraw());
        first.SetResult();
        await other.HasToldAsync(1);
        Assert.Equal([true, true], withdrawn);
        Assert.Equal(["in doubt"], sink.Told);
        Assert.Equal(["appended"], other.Told);
        Assert.Equal(4, await watched.SumAsync());
        Assert.False(followers[0].TryWithdraw());
    }

    [Fact]
    public async Task Append_that_the_log_refuses_has_failed()
    {
        var isFull = false;
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = _ => isFull ? throw new LogUnavailableException("No cohort answers") : default,
        });
        var (_, watched) = await OpenAsync(world, s_oneByOne);
        isFull = true;
        var sink = new Sink();
        watched.Post(1, sink);
        await sink.HasToldAsync(1);
        Assert.Equal(["failed LogUnavailableException"], sink.Told);
        isFull = false;
        Assert.Equal(0, await watched.SumAsync());
    }

    /// <summary>Posts and calls share an entry; playback answers the calls alone.</summary>
    [Fact]
    public async Task Sink_that_fails_disturbs_no_caller_of_the_entry()
    {
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var holds = false;
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = async _ =>
            {
                if (holds) await release.Task;
            },
        });
        var (_, watched) = await OpenAsync(world, new TangoOptions());
        holds = true;
        var sink = new Sink();
        watched.Post(1, sink);
        Sink broken = new() { Fails = true }, last = new();
        watched.Post(2, broken);
        var adding = watched.AddAsync(4);
        watched.Post(8, last);
        release.SetResult();
        Assert.Equal(7, await adding);
        await last.HasToldAsync(1);
        Assert.Equal(["appended"], last.Told);
        Assert.Equal(sink.Versions[0].Position.Next, broken.Versions[0].Position);
        Assert.Equal(broken.Versions[0].Position, last.Versions[0].Position);
        Assert.Equal((0, 2), (broken.Versions[0].Index, last.Versions[0].Index));
        Assert.Equal(15, await watched.SumAsync());
    }

    [Fact]
    public async Task Logger_that_fails_with_a_sink_disturbs_no_caller_of_the_entry()
    {
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var holds = false;
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = async _ =>
            {
                if (holds) await release.Task;
            },
        });
        var logger = new BrokenLogger();
        var runtime = world.NewRuntime(null, logger);
        var watched = await runtime.OpenAsync<Watched>("watched", OpenMode.Create);
        holds = true;
        watched.Post(1, new Sink());
        Sink broken = new() { Fails = true }, last = new(), next = new();
        watched.Post(2, broken);
        watched.Post(4, last);
        release.SetResult();
        await broken.HasToldAsync(1);
        // Sent behind the entry of the others, whose sinks have heard by then.
        watched.Post(8, next);
        await next.HasToldAsync(1);
        Assert.Equal(1, logger.Failures);
        Assert.Equal(["appended"], last.Told);
        Assert.Equal(broken.Versions[0].Position, last.Versions[0].Position);
        Assert.Equal(15, await watched.SumAsync());
    }

    [Fact]
    public async Task Post_in_a_transaction_or_of_a_deleted_object_is_refused()
    {
        await using var world = new World();
        var (runtime, watched) = await OpenAsync(world, new TangoOptions());
        await using (runtime.BeginTx())
            Assert.Throws<TangoTransactionException>(() => watched.Post(1, new Sink()));
        await runtime.Directory.DeleteAsync("watched");
        Assert.Throws<TangoObjectDeletedException>(() => watched.Post(1, new Sink()));
    }

    private static async Task<(TangoRuntime Runtime, Watched Watched)> OpenAsync(World world, TangoOptions options)
    {
        var runtime = world.NewRuntime(options);
        return (runtime, await runtime.OpenAsync<Watched>("watched", OpenMode.Create));
    }

    private sealed class Sink : IPostSink
    {
        private readonly SemaphoreSlim _told = new(0);

        public bool Fails { get; init; }

        public Action? InDoubt { get; set; }

        public List<string> Told { get; } = [];

        public List<RecordVersion> Versions { get; } = [];

        public async Task HasToldAsync(int count)
        {
            for (var i = 0; i < count; i++) await _told.WaitAsync();
        }

        public void OnAppended(RecordVersion version)
        {
            Versions.Add(version);
            Tell("appended");
            if (Fails) throw new InvalidOperationException("broken");
        }

        public void OnInDoubt(TangoInDoubtException reason)
        {
            Tell("in doubt");
            InDoubt?.Invoke();
        }

        public void OnFailed(Exception reason) => Tell($"failed {reason.GetType().Name}");

        private void Tell(string news)
        {
            Told.Add(news);
            _told.Release();
        }
    }

    private sealed class Observer : IApplyObserver
    {
        public Action? OnEffect { get; init; }

        public List<object> Effects { get; } = [];

        public void OnReset(TangoObject handle, ObservedView view)
        {
        }

        public void OnApplied(TangoObject handle, RecordVersion version, object effect)
        {
            Effects.Add(effect);
            OnEffect?.Invoke();
        }

        public void OnPublished(LogPosition end)
        {
        }

        public void OnStopped(TangoObject handle, Exception reason)
        {
        }
    }
}
