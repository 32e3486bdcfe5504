using BenchmarkDotNet.Attributes;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Unit;

namespace Corfu.Benchmarks;

/// <summary>Reads of the unit's core: the map and the checks, up to where the page's bytes are fetched.</summary>
[HotPath]
public class UnitReadBenchmarks
{
    private const int Entries = 16_384;
    private const int Payload = 128;

    private UnitCore _core = null!;
    private ReadRequest[] _requests = [];
    private int _next;

    [Params(ReadDetail.State, ReadDetail.Full)]
    public ReadDetail Detail { get; set; }

    [GlobalSetup]
    public void Fill()
    {
        _core = UnitBenchmarks.OpenCore();
        foreach (var request in UnitBenchmarks.WriteRequests(Entries, Payload)) _core.Handle(request);
        var random = new Random(1);
        _requests = [.. Enumerable.Range(0, Entries).Select(_ => new ReadRequest(
            Epoch.First, [new LogPosition(random.Next(Entries), Epoch.First)], Detail))];
        if (_core.Handle(_requests[0]).Response is { IsOk: false } refused)
            throw new InvalidOperationException($"The read was refused: {refused.Status}.");
    }

    [Benchmark]
    public long ReadOneEntry() => _core.Handle(_requests[_next++ & (Entries - 1)]).Lsn;
}
