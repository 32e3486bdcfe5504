using System.Buffers.Binary;
using BenchmarkDotNet.Attributes;
using Tango;
using Tango.Model;
using Tango.Playback;

namespace Corfu.Benchmarks;

/// <summary>Playback's decision of a transaction on one object: three keyed reads are compared with the table of
/// versions, and three writes enter it.</summary>
[HotPath]
public class DecisionBenchmarks
{
    private const int Touched = 3;

    private VersionTable _table = null!;
    private byte[][] _keys = [];
    private long _position;
    private int _next;

    /// <summary>Keys with a version.</summary>
    [Params(1_000, 100_000)]
    public int Keys { get; set; }

    [GlobalSetup]
    public void Fill()
    {
        _table = new VersionTable(Keys);
        _keys = [.. Enumerable.Range(0, Keys).Select(Encode)];
        foreach (var key in _keys) _table.Write(hasKey: true, key, NextVersion(), long.MaxValue);
    }

    [Benchmark]
    public bool DecideThreeReads()
    {
        var isValid = true;
        for (var i = 0; i < Touched; i++)
            isValid &= !_table.TryFindConflict(true, NextKey(), new LogPosition(_position, Epoch.First), out _);
        return isValid;
    }

    [Benchmark]
    public void RecordThreeWrites()
    {
        var version = NextVersion();
        for (var i = 0; i < Touched; i++) _table.Write(hasKey: true, NextKey(), version, long.MaxValue);
    }

    private static byte[] Encode(int key)
    {
        var bytes = new byte[sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(bytes, key);
        return bytes;
    }

    private RecordVersion NextVersion() => new(new LogPosition(_position++, Epoch.First), 0);

    // A stride without a common factor with the count: neighbours in time are none in memory.
    private byte[] NextKey() => _keys[_next = (_next + 7919) % Keys];
}
