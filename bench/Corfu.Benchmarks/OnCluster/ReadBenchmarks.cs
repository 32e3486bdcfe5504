using BenchmarkDotNet.Attributes;

namespace Corfu.Benchmarks;

/// <summary>Reads of single committed entries, at random among those that were appended before.</summary>
[OnCluster]
public class ReadBenchmarks : ClusterBenchmarks
{
    private const int Entries = 20_000;
    private const int Writers = 512;

    private LogPosition[] _positions = [];

    [Params(1, 64)]
    public override int InFlight { get; set; }

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task ReadOneEntry() => RunAsync(async _ =>
    {
        var position = _positions[Random.Shared.Next(_positions.Length)];
        var page = (await Client.ReadManyAsync([position]))[0];
        if (page.Entry is null) throw new InvalidDataException($"{position} is {page.State}.");
    });

    protected override async Task PrepareAsync()
    {
        _positions = new LogPosition[Entries];
        var next = -1;
        await Window.RunAsync(Writers, Entries, async _ =>
        {
            var index = Interlocked.Increment(ref next);
            _positions[index] = (await Client.AppendAsync(Payload, [])).Require();
        });
    }
}
