using BenchmarkDotNet.Attributes;

namespace Corfu.Benchmarks;

/// <summary>The checksum of entries and records, beside a copy of the same bytes.</summary>
[HotPath]
public class Crc32CBenchmarks
{
    private byte[] _data = [];
    private byte[] _copy = [];

    [Params(128, 4096, 65_536)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _data = new byte[Bytes];
        _copy = new byte[Bytes];
        new Random(1).NextBytes(_data);
    }

    [Benchmark]
    public uint Checksum() => Crc32C.Compute(_data);

    [Benchmark(Baseline = true)]
    public void Copy() => _data.AsSpan().CopyTo(_copy);
}
