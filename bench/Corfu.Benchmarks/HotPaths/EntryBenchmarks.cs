using BenchmarkDotNet.Attributes;
using Corfu.Protocol;

namespace Corfu.Benchmarks;

/// <summary>The entry codec: every append encodes once, every read decodes once.</summary>
[HotPath]
public class EntryBenchmarks
{
    private LogEntry _entry = null!;
    private byte[] _bytes = [];

    [Params(128, 4096)]
    public int Payload { get; set; }

    [Params(1, 4)]
    public int Streams { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        var position = new LogPosition(1_000_000, new Epoch(3));
        var headers = Enumerable.Range(0, Streams).Select(i => new StreamHeader(
            new StreamId(300 + (ulong)i),
            [new LogPosition(999_990 - i), new LogPosition(999_900), new LogPosition(999_000),
                new LogPosition(998_000)]));
        _entry = new LogEntry(
            position, new EntryOrigin(new WriterId(Guid.NewGuid()), 7), EntryKind.Data, DateTimeOffset.UnixEpoch,
            [.. headers], new byte[Payload]);
        _bytes = EntryCodec.Encode(_entry);
    }

    [Benchmark]
    public void Encode() => EntryCodec.Encode(_entry, _bytes);

    [Benchmark]
    public LogEntry Decode() => EntryCodec.Decode(_bytes);

    [Benchmark]
    public LogEntry DecodeHeaders() => EntryCodec.DecodeHeaders(_bytes);
}
