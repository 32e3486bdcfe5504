namespace Corfu.Register.Tests;

/// <summary>Keeps apart what was flushed and what was only written; a crash keeps a torn part of the latter.</summary>
internal sealed class TestDevice : IAcceptorDevice
{
    // Guards everything below: a machine crashes while its acceptor runs on another thread.
    private readonly Lock _gate = new();
    private readonly byte[][] _durable = [[], []];
    private readonly byte[][] _current = [[], []];

    public bool FailFlush { get; set; }

    /// <summary>No area grows beyond.</summary>
    public long Capacity { get; set; } = long.MaxValue;

    /// <summary>Not even written bytes can be written again, as on a file system that copies on write.</summary>
    public bool IsFull { get; set; }

    /// <summary>Flushes wait for this.</summary>
    public TaskCompletionSource? Gate { get; set; }

    public int Flushes { get; private set; }

    /// <summary>Called before every flush, to take pictures of the moment.</summary>
    public Action? BeforeFlush { get; set; }

    public ValueTask<byte[]> ReadAsync(int area)
    {
        lock (_gate) return ValueTask.FromResult((byte[])_current[area].Clone());
    }

    public void Write(int area, long offset, ReadOnlySpan<byte> bytes)
    {
        lock (_gate)
        {
            if (IsFull || offset + bytes.Length > Math.Max(Capacity, _current[area].Length))
                throw new IOException("No space left on device", 28);
            if (offset + bytes.Length > _current[area].Length)
                Array.Resize(ref _current[area], (int)offset + bytes.Length);
            bytes.CopyTo(_current[area].AsSpan((int)offset));
        }
    }

    public void Truncate(int area, long length)
    {
        lock (_gate) Array.Resize(ref _current[area], (int)length);
    }

    public async ValueTask FlushAsync(int area)
    {
        BeforeFlush?.Invoke();
        if (Gate is { } gate) await gate.Task;
        lock (_gate)
        {
            if (FailFlush) throw new IOException("EIO");
            Flushes++;
            _durable[area] = (byte[])_current[area].Clone();
        }
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    public byte[] Area(int area) => _current[area];

    /// <summary>The device after a power cut now: per area all, none or part of the bytes that were not
    /// flushed.</summary>
    public TestDevice Crash(Random random)
    {
        lock (_gate)
        {
            var survivor = new TestDevice();
            for (var area = 0; area < 2; area++)
            {
                var left = random.Next(4) switch
                {
                    0 => (byte[])_durable[area].Clone(),
                    1 => (byte[])_current[area].Clone(),
                    _ => Torn(area, random),
                };
                survivor.Put(area, left);
            }

            return survivor;
        }
    }

    /// <summary>As <see cref="Crash"/>, and this device is gone: what the old process still flushes is not
    /// durable.</summary>
    public TestDevice CutPower(Random random)
    {
        lock (_gate)
        {
            FailFlush = true;
            return Crash(random);
        }
    }

    /// <summary>The device of the next process when this one is killed now: all written bytes. A power cut still takes
    /// those that were not flushed.</summary>
    public TestDevice Kill()
    {
        var left = new TestDevice();
        for (var area = 0; area < 2; area++)
        {
            left._durable[area] = (byte[])_durable[area].Clone();
            left._current[area] = (byte[])_current[area].Clone();
        }

        return left;
    }

    /// <summary>The device after a power cut that takes everything that was not flushed.</summary>
    public TestDevice PowerCut()
    {
        var left = new TestDevice();
        for (var area = 0; area < 2; area++) left.Put(area, (byte[])_durable[area].Clone());
        return left;
    }

    public TestDevice Copy()
    {
        var copy = new TestDevice();
        for (var area = 0; area < 2; area++) copy.Put(area, (byte[])_current[area].Clone());
        return copy;
    }

    private void Put(int area, byte[] bytes)
    {
        _durable[area] = bytes;
        _current[area] = (byte[])bytes.Clone();
    }

    /// <summary>Every byte is either as flushed or as written, in runs; a byte in neither is a zero.</summary>
    private byte[] Torn(int area, Random random)
    {
        var (old, now) = (_durable[area], _current[area]);
        var bytes = new byte[random.Next(2) == 0
            ? now.Length
            : random.Next(Math.Min(old.Length, now.Length), Math.Max(old.Length, now.Length) + 1)];
        var fromNew = false;
        for (var i = 0; i < bytes.Length; i++)
        {
            if (i % 16 == 0) fromNew = random.Next(2) == 0;
            var source = fromNew ? now : old;
            bytes[i] = i < source.Length ? source[i] : (byte)0;
        }

        return bytes;
    }
}
