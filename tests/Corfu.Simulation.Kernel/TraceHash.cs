using System.Buffers.Binary;
using System.Numerics;

namespace Corfu.Simulation.Kernel;

/// <summary>Running hash of everything that happened, in order. Two runs of one seed must end with the same value, in
/// any process.</summary>
public sealed class TraceHash
{
    private ulong _a = 0x243F6A8885A308D3UL;
    private ulong _b = 0x13198A2E03707344UL;

    public ulong Value => _a ^ BitOperations.RotateLeft(_b, 32);

    public void Add(ulong value)
    {
        _a = BitOperations.RotateLeft((_a ^ value) * 0x9FB21C651E98DF25UL, 31);
        _b = (_b + value) * 0xD6E8FEB86659FD93UL ^ _a;
    }

    public void Add(long value) => Add((ulong)value);

    public void Add(ReadOnlySpan<byte> bytes)
    {
        Add((ulong)bytes.Length);
        while (bytes.Length >= 8)
        {
            Add(BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            bytes = bytes[8..];
        }

        ulong last = 0;
        foreach (byte b in bytes)
        {
            last = (last << 8) | b;
        }

        Add(last);
    }

    public void Add(string text)
    {
        // Not string.GetHashCode: that one is seeded per process.
        ulong h = 0xCBF29CE484222325UL;
        foreach (char c in text)
        {
            h = (h ^ c) * 0x100000001B3UL;
        }

        Add(h);
    }
}
