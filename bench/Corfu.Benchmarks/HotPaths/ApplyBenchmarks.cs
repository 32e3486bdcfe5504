using System.Buffers;
using BenchmarkDotNet.Attributes;
using Tango;
using Tango.Collections;

namespace Corfu.Benchmarks;

/// <summary>The generated code that applies one record to a dictionary of 1024 keys: arguments decoded, state
/// replaced.</summary>
[HotPath]
public class ApplyBenchmarks
{
    private const int SetMutator = 1;
    private const int Keys = 1024;

    private readonly ITangoView _dictionary = new TangoDictionary<long, string>();
    private byte[][] _keys = [];
    private byte[] _arguments = [];
    private int _next;

    [GlobalSetup]
    public void Setup()
    {
        _keys = [.. Enumerable.Range(0, Keys)
            .Select(i => Encode((ref MessagePackWriter writer) => writer.Write((long)i)))];
        _arguments = Encode((ref MessagePackWriter writer) =>
        {
            writer.WriteArrayHeader(1);
            writer.Write("a value of ordinary length");
        });
    }

    [Benchmark]
    public void ApplySet() => _dictionary.Apply(SetMutator, _keys[_next++ & (Keys - 1)], _arguments, default);

    private delegate void Write(ref MessagePackWriter writer);

    private static byte[] Encode(Write write)
    {
        var output = new ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(output);
        write(ref writer);
        writer.Flush();
        return output.WrittenSpan.ToArray();
    }
}
