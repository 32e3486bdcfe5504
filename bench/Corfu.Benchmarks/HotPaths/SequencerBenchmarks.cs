using BenchmarkDotNet.Attributes;
using Corfu.Protocol;
using Corfu.Sequencer;

namespace Corfu.Benchmarks;

/// <summary>Tokens and tails from the core: the serial part of every append and check in the cluster.</summary>
[HotPath]
public class SequencerBenchmarks
{
    private SequencerCore _core = null!;
    private TokenRequest[] _requests = [];
    private TailRequest[] _tails = [];
    private int _next;

    /// <summary>Streams of one request; 0 is an append to the log alone.</summary>
    [Params(0, 1, 4)]
    public int Streams { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        var sequencer = new NodeAddress(new NodeId(Guid.NewGuid()), new NodeEndpoint("127.0.0.1", 1));
        var unit = new NodeAddress(new NodeId(Guid.NewGuid()), new NodeEndpoint("127.0.0.1", 2));
        _core = new SequencerCore(sequencer.Id);
        _core.Handle(new BootstrapRequest(new Projection(
            new ClusterId(Guid.NewGuid()), Epoch.First, sequencer, LogPosition.Zero, LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [new Chain([new Replica(unit.Id)])])], [unit], [unit], "benchmark")));
        // Many streams, so that the table does not sit in the processor's cache.
        _requests = [.. Enumerable.Range(0, 65_536).Select(i => new TokenRequest(
            Epoch.First, 1,
            [.. Enumerable.Range(0, Streams).Select(s => new StreamId(300 + (ulong)(i * Streams + s)))]))];
        _tails = [.. _requests.Select(static request => new TailRequest(Epoch.First, request.Streams))];
        foreach (var request in _requests) _core.Handle(request);
    }

    [Benchmark]
    public Response GrantToken() => _core.Handle(_requests[_next++ & 65_535]);

    [Benchmark]
    public Response TellTail() => _core.Handle(_tails[_next++ & 65_535]);
}
