using System.Text;
using Corfu.Client;
using Corfu.Grpc.Client;
using Corfu.Hosting;
using Corfu.Protocol;
using Tango.Testing;

namespace Corfu.Grpc.Tests;

/// <summary>The .NET client beyond what every log promises: front ends that die, outcomes, errors.</summary>
public sealed class GrpcLogTests
{
    private static readonly StreamId A = StreamId.FromName("a");

    private static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    [Fact]
    public async Task Log_client_goes_on_with_another_front_end()
    {
        var inner = new InMemoryCorfuLog();
        var first = await FrontEnd.StartAsync(inner);
        await using var second = await FrontEnd.StartAsync(inner);
        await using var log = await GrpcCorfuLog.ConnectAsync($"{first.Address},{second.Address}");
        (await log.AppendAsync(Bytes("1"), [A])).Require();
        await first.DisposeAsync();
        Assert.Equal(1, (await log.CheckAsync([A])).Tail.Offset);
        (await log.AppendAsync(Bytes("2"), [A])).Require();
        Assert.Equal(2, (await log.CheckAsync([A])).Tail.Offset);
    }

    [Fact]
    public async Task Append_without_an_answer_is_unknown_until_a_search_for_the_origin()
    {
        var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var isOpen = false;
        var inner = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            AroundAppend = async stop =>
            {
                if (isOpen) return;
                reached.TrySetResult();
                await Task.Delay(Timeout.Infinite, stop);
            },
        });
        var first = await FrontEnd.StartAsync(inner);
        await using var second = await FrontEnd.StartAsync(inner);
        await using var log = await GrpcCorfuLog.ConnectAsync($"{first.Address},{second.Address}");
        var append = log.AppendAsync(Bytes("1"), [A]);
        await reached.Task;
        await first.AbortAsync();
        var result = await append;
        isOpen = true;
        Assert.Equal(AppendOutcome.Unknown, result.Outcome);
        Assert.Equal(AppendOutcome.NotAppended, await log.ResolveAsync(result));
        var next = (await log.AppendAsync(Bytes("2"), [A])).Require();
        Assert.Equal([next], (await log.CheckAsync([A])).Streams[0].Positions);
    }

    [Fact]
    public async Task An_unknown_outcome_is_resolved()
    {
        var faults = new Queue<AppendFault>([AppendFault.WrittenButUnknown, AppendFault.LostAndUnknown]);
        var inner = new InMemoryCorfuLog(
            new InMemoryLogOptions { NextAppendFault = () => faults.TryDequeue(out var f) ? f : AppendFault.None });
        await using var frontEnd = await FrontEnd.StartAsync(inner);
        await using var log = await GrpcCorfuLog.ConnectAsync(frontEnd.Address);
        var written = await log.AppendAsync(Bytes("1"), [A]);
        var lost = await log.AppendAsync(Bytes("2"), [A]);
        Assert.Equal((AppendOutcome.Unknown, AppendOutcome.Unknown), (written.Outcome, lost.Outcome));
        Assert.Equal(AppendOutcome.Appended, await log.ResolveAsync(written));
        Assert.Equal(AppendOutcome.NotAppended, await log.ResolveAsync(lost));
    }

    [Fact]
    public async Task A_cancelled_append_that_was_sent_is_unknown()
    {
        var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var inner = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            AroundAppend = async stop =>
            {
                reached.TrySetResult();
                await Task.Delay(Timeout.Infinite, stop);
            },
        });
        await using var frontEnd = await FrontEnd.StartAsync(inner);
        await using var log = await GrpcCorfuLog.ConnectAsync(frontEnd.Address);
        using var cancel = new CancellationTokenSource();
        var append = log.AppendAsync(Bytes("1"), [A], cancel.Token);
        await reached.Task;
        await cancel.CancelAsync();
        Assert.Equal(AppendOutcome.Unknown, (await append).Outcome);
    }

    [Fact]
    public async Task Missing_front_end_is_reported_in_time()
    {
        var options = GrpcLogOptions.Default with { OperationTimeout = TimeSpan.FromMilliseconds(200) };
        await Assert.ThrowsAsync<LogUnavailableException>(
            async () => await GrpcCorfuLog.ConnectAsync("http://127.0.0.1:1", options));
        await Assert.ThrowsAsync<FormatException>(async () => await GrpcCorfuLog.ConnectAsync("corfu://127.0.0.1:1"));
        Assert.Contains("RetryDelay", Assert.Throws<ArgumentException>(
            (options with { RetryDelay = TimeSpan.Zero, MaxBatchEntries = 0 }).Validate).Message);
    }

    [Fact]
    public async Task A_disposed_log_refuses()
    {
        await using var frontEnd = await FrontEnd.StartAsync(new InMemoryCorfuLog());
        var log = await GrpcCorfuLog.ConnectAsync(frontEnd.Address);
        await log.DisposeAsync();
        await Assert.ThrowsAnyAsync<ObjectDisposedException>(async () => await log.AppendAsync(Bytes("x"), [A]));
    }

    [Fact]
    public async Task Many_appends_over_a_real_cluster_stand_in_the_log()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var frontEnd = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        await using var log = await GrpcCorfuLog.ConnectAsync(frontEnd.Address);
        var results = await Task.WhenAll(
            Enumerable.Range(0, 500).Select(i => log.AppendAsync(Bytes($"{i}"), [A]).AsTask()));
        var cursor = new StreamCursor(log, A);
        await cursor.SyncAsync();
        var read = new List<LogPosition>();
        while (await cursor.ReadNextAsync() is { } entry) read.Add(entry.Position);
        Assert.Equal(results.Select(r => r.Require()).Order(), read);
    }
}
