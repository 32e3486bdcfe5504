using System.Buffers;
using BenchmarkDotNet.Attributes;
using Tango.Formatting;

namespace Corfu.Benchmarks;

/// <summary>Generated MessagePack formatters: a record of a user's and a tuple.</summary>
[HotPath]
public class FormatterBenchmarks
{
    private readonly ArrayBufferWriter<byte> _output = new(256);
    private readonly (long, string, Guid) _tuple = (42, "a value of ordinary length", Guid.NewGuid());
    private readonly Order _order = new(42, "a value of ordinary length", Guid.NewGuid(), [1, 2, 3, 4]);
    private byte[] _tupleBytes = [];
    private byte[] _orderBytes = [];

    [GlobalSetup]
    public void Setup()
    {
        ClosedFormatters.ValueTuple<long, string, Guid>();
        FormatTuple();
        _tupleBytes = _output.WrittenSpan.ToArray();
        FormatRecord();
        _orderBytes = _output.WrittenSpan.ToArray();
    }

    [Benchmark]
    public void FormatTuple() => Format(_tuple);

    [Benchmark]
    public (long, string, Guid) ParseTuple() => Parse<(long, string, Guid)>(_tupleBytes);

    [Benchmark]
    public void FormatRecord() => Format(_order);

    [Benchmark]
    public Order ParseRecord() => Parse<Order>(_orderBytes);

    private void Format<T>(T value)
    {
        _output.ResetWrittenCount();
        var writer = new MessagePackWriter(_output);
        TangoFormatters.Write(ref writer, value);
        writer.Flush();
    }

    private static T Parse<T>(byte[] bytes)
    {
        var reader = new MessagePackReader(bytes);
        return TangoFormatters.Read<T>(ref reader);
    }
}

/// <summary>A value as a service would keep it.</summary>
[MessagePackObject]
public sealed record Order(
    [property: Key(0)] long Id,
    [property: Key(1)] string Customer,
    [property: Key(2)] Guid Request,
    [property: Key(3)] int[] Items);
