namespace Corfu.Simulation.Kernel.Disk;

/// <summary>A file: what survives a power cut, and on top of it the writes that sit in the volatile cache.</summary>
public sealed class SimFile(string name)
{
    public string Name { get; internal set; } = name;

    private readonly List<CachedWrite> _cache = [];
    private byte[] _durable = [];
    private byte[] _current = [];
    private int _durableLength;
    private int _length;
    // Writes that have become durable, in order: marks are absolute, because flushes overlap.
    private long _flushed;

    public int Length => _length;

    /// <summary>Content that a power cut that loses all un-flushed writes would leave.</summary>
    internal ReadOnlyMemory<byte> Durable => _durable.AsMemory(0, _durableLength);

    internal void Flip(int offset, int bit)
    {
        _durable[offset] ^= (byte)(1 << bit);
        _current[offset] ^= (byte)(1 << bit);
    }

    internal void Write(int offset, ReadOnlySpan<byte> bytes)
    {
        Put(ref _current, ref _length, offset, bytes);
        _cache.Add(new CachedWrite(offset, bytes.ToArray()));
    }

    internal void Truncate(int length)
    {
        if (length > _length)
        {
            Write(_length, new byte[length - _length]);
            return;
        }

        _length = length;
        _current.AsSpan(length).Clear();
        _cache.Add(new CachedWrite(length, null));
    }

    /// <summary>Copies from the file as the running process sees it. Returns the bytes copied; short at the end of the
    /// file.</summary>
    public int Read(int offset, Span<byte> into)
    {
        int n = Math.Clamp(_length - offset, 0, into.Length);
        _current.AsSpan(Math.Min(offset, _current.Length), n).CopyTo(into);
        return n;
    }

    /// <summary>The number of writes so far: a flush that begins here covers exactly these.</summary>
    internal long CacheMark() => _flushed + _cache.Count;

    internal void Flush(long mark)
    {
        int covered = (int)Math.Max(0, mark - _flushed);
        for (int i = 0; i < covered; i++)
        {
            Apply(_cache[i], null);
        }

        _cache.RemoveRange(0, covered);
        _flushed += covered;
    }

    internal void Crash(SimDiskOptions options, SimRandom random, out int lost, out int torn)
    {
        lost = 0;
        torn = 0;
        foreach (CachedWrite write in _cache)
        {
            if (!random.Chance(options.KeepAtCrash))
            {
                lost++;
            }
            else if (write.Bytes is { Length: > 1 } && random.Chance(options.TearAtCrash))
            {
                torn++;
                Apply(write, random);
            }
            else
            {
                Apply(write, null);
            }
        }

        _flushed += _cache.Count;
        _cache.Clear();
        _length = _durableLength;
        _current = _durable.ToArray();
    }

    private void Apply(CachedWrite write, SimRandom? tear)
    {
        if (write.Bytes is null)
        {
            int cut = Math.Min(write.Offset, _durableLength);
            _durable.AsSpan(cut).Clear();
            _durableLength = cut;
            return;
        }

        if (tear is null)
        {
            Put(ref _durable, ref _durableLength, write.Offset, write.Bytes);
        }
        else if (tear.Chance(0.5))
        {
            // Torn at a byte: a prefix only.
            Put(ref _durable, ref _durableLength, write.Offset, write.Bytes.AsSpan(0, tear.Next(write.Bytes.Length)));
        }
        else
        {
            // Torn by sectors: any subset of them, so a later part may be there without an earlier one.
            for (int at = 0; at < write.Bytes.Length;)
            {
                int n = Math.Min(512 - ((write.Offset + at) % 512), write.Bytes.Length - at);
                if (tear.Chance(0.5))
                {
                    Put(ref _durable, ref _durableLength, write.Offset + at, write.Bytes.AsSpan(at, n));
                }

                at += n;
            }
        }
    }

    private static void Put(ref byte[] data, ref int length, int offset, ReadOnlySpan<byte> bytes)
    {
        int end = offset + bytes.Length;
        if (end > data.Length)
        {
            Array.Resize(ref data, Math.Max(end, Math.Max(4096, data.Length * 2)));
        }

        bytes.CopyTo(data.AsSpan(offset));
        length = Math.Max(length, end);
    }

    /// <summary>Bytes null: a truncation to the offset.</summary>
    private sealed record CachedWrite(int Offset, byte[]? Bytes);
}
