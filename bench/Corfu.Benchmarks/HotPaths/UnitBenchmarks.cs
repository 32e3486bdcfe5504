using BenchmarkDotNet.Attributes;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Unit;

namespace Corfu.Benchmarks;

/// <summary>The unit's core over the store without a disk: checks, map, record, what a write costs besides
/// I/O.</summary>
[HotPath]
public class UnitBenchmarks
{
    private const int Writes = 16_384;

    private UnitCore _core = null!;
    private WriteRequest[] _requests = [];

    [Params(128)]
    public int Payload { get; set; }

    [GlobalSetup]
    public void Prepare() => _requests = WriteRequests(Writes, Payload);

    // Write-once: each run of the benchmark needs pages that are unwritten.
    [IterationSetup]
    public void Open() => _core = OpenCore();

    [Benchmark(OperationsPerInvoke = Writes)]
    public void Write()
    {
        foreach (var request in _requests)
        {
            if (!_core.Handle(request).Response!.IsOk) throw new InvalidOperationException("The write was refused.");
        }
    }

    internal static WriteRequest[] WriteRequests(int count, int payload)
    {
        var origin = new WriterId(Guid.NewGuid());
        return [.. Enumerable.Range(0, count).Select(i => new WriteRequest(
            Epoch.First,
            EntryCodec.Encode(new LogEntry(
                new LogPosition(i, Epoch.First), new EntryOrigin(origin, i), EntryKind.Data, DateTimeOffset.UnixEpoch,
                [], new byte[payload]))))];
    }

    internal static UnitCore OpenCore()
    {
        var unit = new NodeAddress(new NodeId(Guid.NewGuid()), new NodeEndpoint("127.0.0.1", 2));
        var cluster = new ClusterId(Guid.NewGuid());
        var core = UnitCore.OpenAsync(new MemoryPageStore(), new UnitCoreOptions { Cluster = cluster }).AsTask()
            .GetAwaiter().GetResult();
        core.Handle(new InstallRequest(new Projection(
            cluster, Epoch.First, unit, LogPosition.Zero, LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [new Chain([new Replica(unit.Id)])])], [unit], [unit], "benchmark")));
        return core;
    }
}
