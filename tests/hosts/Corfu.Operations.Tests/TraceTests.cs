using System.Collections.Concurrent;
using System.Diagnostics;
using Corfu.Hosting;
using Corfu.Operations.Figures;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Operations.Tests;

public sealed class TraceTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task Trace_of_an_append_leads_to_the_sync_of_each_unit()
    {
        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 2, Replicas = 2 });
        await using var client = await cluster.ConnectAsync();
        (await client.AppendAsync("before"u8.ToArray(), [])).Require();
        var stopped = new ConcurrentQueue<Activity>();
        using var source = new ActivitySource("TraceTests");
        using var listener = new ActivityListener
        {
            ShouldListenTo = own => own.Name == source.Name || Collector.Sources.Contains(own.Name),
            Sample = static (ref ActivityCreationOptions<ActivityContext> options) =>
                options.Parent.TraceId != default || options.Name == "root"
                    ? ActivitySamplingResult.AllDataAndRecorded
                    : ActivitySamplingResult.None,
            ActivityStopped = stopped.Enqueue,
        };
        ActivitySource.AddActivityListener(listener);
        ActivityTraceId trace;
        using (var root = source.StartActivity("root"))
        {
            trace = root!.TraceId;
            (await client.AppendAsync("traced"u8.ToArray(), [])).Require();
            Assert.Same(root, Activity.Current);
        }

        using var limit = new CancellationTokenSource(Patience);
        while (Named("corfu.unit.commit").Count() < 2 || Named("corfu.request").Count() < 2)
            await Task.Delay(10, limit.Token);
        var append = Assert.Single(Named("corfu.client.append"));
        var calls = Named("corfu.call").Where(call => call.ParentSpanId == append.SpanId).ToList();
        Assert.Equal(2, calls.Count(call => (string?)call.GetTagItem("corfu.opcode") == nameof(Opcode.Write)));
        foreach (var request in Named("corfu.request"))
        {
            Assert.Contains(Named("corfu.call"), call => call.SpanId == request.ParentSpanId);
            Assert.Equal("Ok", request.GetTagItem("corfu.status"));
            Assert.Contains(Named("corfu.unit.commit"), commit =>
                commit.Links.Any(link => link.Context.SpanId == request.SpanId) && commit.Duration > TimeSpan.Zero);
        }

        IEnumerable<Activity> Named(string name) =>
            stopped.Where(own => own.TraceId == trace && own.OperationName == name);
    }

    [Fact]
    public void Trace_stands_before_the_body_of_a_request_and_is_taken_from_there()
    {
        var trace = new ActivityContext(
            ActivityTraceId.CreateRandom(), ActivitySpanId.CreateRandom(), ActivityTraceFlags.Recorded);
        var request = new TokenRequest(new Epoch(3), 2, [new StreamId(9)]);
        var buffer = new FrameBuffer();
        MessageCodec.WriteRequest(buffer, 7, request, WireProtocol.Traces, trace);
        var header = FrameHeader.Parse(buffer.WrittenSpan);
        Assert.True(header.HasTrace);
        var body = buffer.WrittenMemory[MessageCodec.HeaderSize..];
        var taken = MessageCodec.TakeTrace(header, ref body);
        Assert.Equal((trace.TraceId, trace.SpanId, trace.TraceFlags), (taken.TraceId, taken.SpanId, taken.TraceFlags));
        Assert.True(taken.IsRemote);
        var plain = new FrameBuffer();
        MessageCodec.WriteRequest(plain, 7, request, WireProtocol.Traces);
        Assert.False(FrameHeader.Parse(plain.WrittenSpan).HasTrace);
        Assert.True(plain.WrittenSpan[MessageCodec.HeaderSize..].SequenceEqual(body.Span));
        ReadOnlyMemory<byte> cut = new byte[24];
        Assert.Throws<MalformedDataException>(() => MessageCodec.TakeTrace(header, ref cut));
    }
}
