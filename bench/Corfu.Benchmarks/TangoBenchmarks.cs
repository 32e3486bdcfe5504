using System.Buffers;
using BenchmarkDotNet.Attributes;
using Tango;
using Tango.Collections;
using Tango.Formatting;

namespace Corfu.Benchmarks;

/// <summary>Playback of one record, and the formatters under it.</summary>
[MemoryDiagnoser]
public class TangoBenchmarks
{
    private const int SetMutator = 1;
    private const int Keys = 1024;

    private readonly ArrayBufferWriter<byte> _output = new(256);
    private readonly ITangoView _dictionary = new TangoDictionary<long, string>();
    private readonly (long, string, Guid) _value = (42, "a value of ordinary length", Guid.NewGuid());
    private byte[][] _keys = [];
    private byte[] _arguments = [];
    private byte[] _encoded = [];
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
        ClosedFormatters.ValueTuple<long, string, Guid>();
        _encoded = Encode((ref MessagePackWriter writer) => TangoFormatters.Write(ref writer, _value));
    }

    [Benchmark]
    public void ApplyDictionarySet() => _dictionary.Apply(SetMutator, _keys[_next++ & (Keys - 1)], _arguments, default);

    [Benchmark]
    public void FormatTuple()
    {
        _output.ResetWrittenCount();
        var writer = new MessagePackWriter(_output);
        TangoFormatters.Write(ref writer, _value);
        writer.Flush();
    }

    [Benchmark]
    public (long, string, Guid) ParseTuple()
    {
        var reader = new MessagePackReader(_encoded);
        return TangoFormatters.Read<(long, string, Guid)>(ref reader);
    }

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
