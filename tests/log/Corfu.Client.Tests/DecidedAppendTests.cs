using System.Text;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Corfu.Sequencer;

namespace Corfu.Client.Tests;

/// <summary>Appends that are decided as their position is granted.</summary>
public sealed class DecidedAppendTests
{
    private static readonly StreamId A = new(300), B = new(301);
    private static readonly CellScope K = new(A, ScopeKind.Keyed, 7), L = new(A, ScopeKind.Keyed, 8);

    [Fact]
    public async Task Payload_is_made_for_the_ruling()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var since = (await client.CheckAsync([A])).Tail;
        var increment = new DeclaredRecord([K], since, [K]);
        var (ruling, append) = await client.AppendDecidedAsync(
            [A], new Declaration([increment, increment, new DeclaredRecord([L], null, [])]), 100, Say, [A]);
        Assert.Equal(
            [new Refusal(1, RefusalReason.Written, K, since)], ruling!.Refused);
        var result = append!.Value.Result;
        Assert.Equal("refused 1", await TextAsync(client, result.Require()));
        Assert.Equal(result.Position, append.Value.Placed!.Entry.Position);

        // The next one meets the write, and with a newer tail it passes.
        var declaration = new Declaration([increment]);
        Assert.Equal((false, null), await OutcomeAsync(client, declaration));
        var again = new Declaration([increment with { Since = result.Position.Next }]);
        Assert.Equal((true, AppendOutcome.Appended), await OutcomeAsync(client, again));
    }

    /// <summary>R28: a filler takes the position; the ruling goes with it.</summary>
    [Fact]
    public async Task Lost_position_ends_an_append_that_was_decided()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var since = (await client.CheckAsync([A])).Tail;
        FillFirstWrite(cluster);
        var declaration = new Declaration([new DeclaredRecord([K], since, [K])]);
        Assert.Equal((true, AppendOutcome.NotAppended), await OutcomeAsync(client, declaration));
        Assert.Equal(1, (await client.CheckAsync([A])).Tail.Offset);

        // The write of the lost grant counts: the next one needs a tail above the hole.
        Assert.Equal((false, null), await OutcomeAsync(client, declaration));
    }

    [Fact]
    public async Task Append_without_a_decision_takes_another_position()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        FillFirstWrite(cluster);
        var (ruling, append) = await client.AppendDecidedAsync(
            [A], new Declaration([new DeclaredRecord([K], null, [])]), 100, Say, [A]);
        Assert.Equal((true, 1L), (ruling!.IsGranted, append!.Value.Result.Require().Offset));
    }

    /// <summary>R28: a sequencer of an older version, or one that does not decide, says nothing.</summary>
    [Fact]
    public async Task Silence_of_the_sequencer_is_no_ruling()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var silent = cluster.AddSequencer(new SequencerOptions { Decide = false });
        await client.Cluster.ReconfigureAsync(p => Membership.Of(p).WithSequencer(silent), "test");
        var since = (await client.CheckAsync([A])).Tail;
        var declaration = new Declaration([new DeclaredRecord([K], since, [K])]);
        var (ruling, append) = await client.AppendDecidedAsync([A], declaration, 100, Say, [A]);
        Assert.Null(ruling);
        Assert.Equal("undecided", await TextAsync(client, append!.Value.Result.Require()));

        // The caller may also append nothing: the position is a hole.
        Assert.Equal(default, await client.AppendDecidedAsync([A], declaration, 100, static _ => null, [A]));
        Assert.Equal(2, (await client.CheckAsync([A])).Tail.Offset);
        Assert.Equal(PageState.Junk, (await client.ReadManyAsync([new LogPosition(1)]))[0].State);
    }

    /// <summary>R28: the next waiter would write under another's declaration and ruling.</summary>
    [Fact]
    public async Task Position_of_a_cancelled_append_is_not_passed_on()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var since = (await client.CheckAsync([A])).Tail;
        var gate = new TaskCompletionSource();
        var asked = new TaskCompletionSource();
        var requests = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is not TokenRequest) return Fault.None;
            if (Interlocked.Increment(ref requests) == 2) asked.SetResult();
            await gate.Task;
            return Fault.None;
        };

        // Two requests are under way; the appends behind them share the next one.
        var first = Enumerable.Range(0, 2).Select(_ => AppendAsync(L, default)).ToList();
        await asked.Task;
        using var cancel = new CancellationTokenSource();
        cluster.Transport.Rewrite = (_, request, response) =>
        {
            if (request is TokenRequest { Count: > 1 }) cancel.Cancel();
            return response;
        };
        var cancelled = AppendAsync(K, cancel.Token);
        var last = AppendAsync(K, default);
        gate.SetResult();
        await Task.WhenAll(first);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);

        // Both read and write k: the first has passed, so the last one is refused.
        var (ruling, append) = await last;
        Assert.Equal((false, null), (ruling!.IsGranted, append));

        Task<DecidedAppend> AppendAsync(CellScope cell, CancellationToken cancellationToken) =>
            client.AppendDecidedAsync([A], new Declaration([new DeclaredRecord([cell], since, [cell])]), 100, Say, [A],
                cancellationToken).AsTask();
    }

    /// <summary>R27: the tail was answered in the epoch before.</summary>
    [Fact]
    public async Task Tail_of_an_epoch_that_has_ended_is_refused()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        await client.AppendToObjectsAsync(new byte[1], [A]);
        var since = (await client.CheckAsync([A])).Tail;
        var declaration = new Declaration([new DeclaredRecord([K], since, [K])]);
        var sequencer = cluster.AddSequencer();
        await client.Cluster.ReconfigureAsync(p => Membership.Of(p).WithSequencer(sequencer), "test");
        var (ruling, append) = await client.AppendDecidedAsync([A], declaration, 100, Say, [A]);
        Assert.Equal(RefusalReason.TooOld, ruling!.Refused.Single().Reason);
        Assert.Null(append);
        since = (await client.CheckAsync([A])).Tail;
        Assert.Equal((true, AppendOutcome.Appended),
            await OutcomeAsync(client, new Declaration([new DeclaredRecord([K], since, [K])])));
    }

    [Fact]
    public async Task Appends_that_declare_much_share_no_request()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        cluster.Transport.Trace = new();
        var large = new Declaration([new DeclaredRecord([.. Enumerable.Repeat(new CellScope(A, ScopeKind.Whole), 3000)],
            null, [])]);
        var appends = Enumerable.Range(0, 6).Select(_ =>
            client.AppendDecidedAsync([A], large, 100, Say, [A]).AsTask());
        Assert.All(await Task.WhenAll(appends), append => Assert.True(append.Append!.Value.Result.IsAppended));
        Assert.All(cluster.Transport.Trace.Select(t => t.Request).OfType<TokenRequest>(),
            request => Assert.Equal(1, request.Count));
    }

    [Fact]
    public async Task Declared_appends_to_many_streams_share_few_requests()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        cluster.Transport.Trace = new();
        var streams = Enumerable.Range(1, EntryLimits.MaxStreams).Select(static n => new StreamId((ulong)n));
        var appends = Enumerable.Range(0, 100).Select(_ =>
            client.AppendDecidedAsync([.. streams], Declaration.None, 100, Say, [A]).AsTask());
        Assert.All(await Task.WhenAll(appends), append => Assert.True(append.Append!.Value.Result.IsAppended));
        Assert.All(cluster.Transport.Trace.Select(t => t.Request).OfType<TokenRequest>(),
            request => Assert.InRange(request.Count * request.Streams.Length, 1, Declaration.MaxEntered));
    }

    [Fact]
    public async Task Declaration_out_of_limits_is_refused_before_the_log_changes()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var other = new Declaration([new DeclaredRecord([new CellScope(B, ScopeKind.Whole)], null, [])]);
        await Assert.ThrowsAsync<ArgumentException>(async () =>
            await client.AppendDecidedAsync([A], other, 100, Say, [A]));
        await Assert.ThrowsAsync<StreamRangeException>(async () => await client.AppendDecidedAsync(
            [new StreamId(StreamId.FirstRawValue)], Declaration.None, 100, Say, []));
        Assert.Equal(0, (await client.CheckAsync([A])).Tail.Offset);
    }

    private static ReadOnlyMemory<byte>? Say(Ruling? ruling) => Encoding.UTF8.GetBytes(ruling is null
        ? "undecided"
        : $"refused {string.Join(',', ruling.Refused.Select(refusal => refusal.Record))}");

    private static async Task<(bool? IsGranted, AppendOutcome? Outcome)> OutcomeAsync(
        CorfuClient client, Declaration declaration)
    {
        var (ruling, append) = await client.AppendDecidedAsync([A], declaration, 100, Say, [A]);
        return (ruling?.IsGranted, append?.Result.Outcome);
    }

    private static async Task<string> TextAsync(CorfuClient client, LogPosition position) =>
        Encoding.UTF8.GetString((await client.ReadManyAsync([position]))[0].Entry!.Payload.Span);

    // Another client closes the hole before the writer comes.
    private static void FillFirstWrite(TestCluster cluster)
    {
        var filler = cluster.Client();
        var isFilled = false;
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is WriteRequest && !isFilled)
            {
                isFilled = true;
                await filler.CheckAsync([]);
                await filler.FillAsync(LogPosition.Zero);
            }

            return Fault.None;
        };
    }
}
