namespace Corfu.Simulation.Kernel.Disk;

/// <summary>
/// The disk of one machine: it outlives the processes that use it. Writes are visible at once and volatile until a
/// flush that began after them has ended; a crash keeps any subset of the others, torn or whole.
/// </summary>
public sealed class SimDisk
{
    private const int NoSpace = 28;

    private readonly World _world;
    private readonly SimRandom _random;
    private readonly string _name;
    // The next flush of a file whose name begins so fails.
    private string? _failing;
    private readonly SortedDictionary<string, SimFile> _files = new(StringComparer.Ordinal);

    public SimDisk(World world, string name, SimDiskOptions options)
    {
        _world = world;
        _name = name;
        Options = options;
        _random = world.Random.Split("disk " + name);
    }

    public SimDiskOptions Options { get; set; }

    public int LostWrites { get; private set; }

    public int TornWrites { get; private set; }

    public int SlowFlushes { get; private set; }

    public int Misreads { get; private set; }

    /// <summary>Bits that were flipped in what had been flushed, and stay so.</summary>
    public int Damages { get; private set; }

    /// <summary>Bytes that files may take in all; others have taken the rest.</summary>
    public long Capacity { get; private set; } = long.MaxValue;

    /// <summary>Numbers that a store keeps beside its files, by name; durable at once.</summary>
    public Dictionary<string, long> Marks { get; } = [];

    private long Used => _files.Values.Sum(f => (long)f.Length);

    /// <summary>Flushes end as if they had been done, and are not: what is written from now on goes with the
    /// power.</summary>
    public bool IsLying { get; set; }

    /// <summary>The process that runs now has read its log back: from here on reads may lie.</summary>
    public bool Serving { get; set; }

    public SimFile Open(string path)
    {
        if (!_files.TryGetValue(path, out SimFile? file))
        {
            file = new SimFile(path);
            _files.Add(path, file);
        }

        return file;
    }

    public IReadOnlyList<string> Names(string prefix) =>
        [.. _files.Keys.Where(n => n.StartsWith(prefix, StringComparison.Ordinal))];

    public byte[] ReadAll(string path)
    {
        SimFile file = _files[path];
        byte[] bytes = new byte[file.Length];
        file.Read(0, bytes);
        return bytes;
    }

    /// <summary>Content that a power cut would leave of a file, if it took all that was not flushed.</summary>
    public ReadOnlyMemory<byte> DurableOf(string path) => _files.TryGetValue(path, out SimFile? file)
        ? file.Durable
        : default;

    /// <summary>At once and durable.</summary>
    public void Delete(string path)
    {
        if (_files.Remove(path)) _world.Note("delete " + path, _name);
    }

    /// <summary>At once and durable; a file of the new name is replaced.</summary>
    public void Rename(string from, string to)
    {
        if (!_files.Remove(from, out SimFile? file)) throw new FileNotFoundException(from);
        file.Name = to;
        _files[to] = file;
        _world.Note("rename " + to, _name);
    }

    /// <summary>The next flush of a file whose name begins so fails, and says nothing about what has reached the
    /// disk.</summary>
    public bool FailNextFlush(string prefix)
    {
        if (_failing is not null) return false;
        _failing = prefix;
        return true;
    }

    /// <summary>Others take all space but this much.</summary>
    public bool TakeSpace(int left)
    {
        if (Capacity != long.MaxValue) return false;
        Capacity = Used + left;
        _world.Note("disk full", _name, Capacity);
        return true;
    }

    public void FreeSpace()
    {
        Capacity = long.MaxValue;
        _world.Note("disk has room", _name);
    }

    /// <summary>A bit of a file turns over and stays so, where <paramref name="choose"/> says, which is shown what a
    /// power cut would leave; it may decline.</summary>
    public bool Damage(string prefix,
        Func<IReadOnlyList<(string Name, ReadOnlyMemory<byte> Bytes)>, (string Name, int From, int Length)?> choose)
    {
        if (choose([.. Names(prefix).Select(n => (n, _files[n].Durable))]) is not { } range) return false;
        int at = range.From + _random.Next(range.Length);
        _files[range.Name].Flip(at, _random.Next(8));
        Damages++;
        _world.Note("damage", _name, at);
        return true;
    }

    /// <summary>Content that a power cut would leave now, for <see cref="Restore"/>.</summary>
    public IReadOnlyList<(string Name, byte[] Bytes)> Copy() =>
        [.. _files.Select(f => (f.Key, f.Value.Durable.ToArray()))];

    /// <summary>The disk is as it was, all of it durable. No process runs.</summary>
    public void Restore(IReadOnlyList<(string Name, byte[] Bytes)> copy)
    {
        _world.Note("disk restored", _name);
        _files.Clear();
        foreach ((string name, byte[] bytes) in copy) Overwrite(name, 0, bytes);
    }

    /// <summary>Other bytes stand in a file, durable at once.</summary>
    public void Overwrite(string path, int offset, ReadOnlySpan<byte> bytes)
    {
        SimFile file = Open(path);
        file.Write(offset, bytes);
        file.Flush(file.CacheMark());
        _world.Note("overwritten", _name, offset, 0, bytes);
    }

    public void Heal()
    {
        Options = new SimDiskOptions();
        Capacity = long.MaxValue;
        _failing = null;
    }

    /// <summary>A new disk in its place.</summary>
    public void Erase()
    {
        _world.Note("disk lost", _name);
        _failing = null;
        Capacity = long.MaxValue;
        Marks.Clear();
        _files.Clear();
    }

    public bool Exists(string path) => _files.ContainsKey(path);

    public void Write(SimFile file, int offset, ReadOnlySpan<byte> bytes)
    {
        if (offset + bytes.Length > file.Length && Used - file.Length + offset + bytes.Length > Capacity)
            throw new IOException("the simulated disk is full", NoSpace);
        _world.Note("disk write", _name, offset, 0, bytes);
        file.Write(offset, bytes);
    }

    public void Truncate(SimFile file, int length)
    {
        _world.Note("disk truncate", _name, length);
        file.Truncate(length);
    }

    /// <summary>Ends when everything written before the call is durable. Never ends when the process dies
    /// first.</summary>
    public Task FlushAsync(SimProcess process, SimFile file)
    {
        long mark = file.CacheMark();
        bool slow = _random.Chance(Options.SlowFlush);
        if (slow)
        {
            SlowFlushes++;
        }

        long latency = slow
            ? _random.Between(Options.FlushLatency, Options.SlowFlushLatency)
            : Options.FlushLatency + _random.Exponential((Options.FlushLatency / 4) + 1);
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _world.Schedule(process, latency, SimEventKind.Disk, () =>
        {
            if (_failing is not null && file.Name.StartsWith(_failing, StringComparison.Ordinal))
            {
                _failing = null;
                _world.Note("disk flush failed", _name);
                done.SetException(new IOException("the simulated disk failed to flush"));
                return;
            }

            if (!IsLying) file.Flush(mark);
            _world.Note("disk flushed", _name, mark);
            done.SetResult();
        });
        return done.Task;
    }

    /// <summary>Reads what the process sees, cached writes included; sometimes at once (the page cache), sometimes
    /// later. Zeros beyond the end.</summary>
    public ValueTask ReadAsync(SimProcess process, SimFile file, long offset, Memory<byte> buffer)
    {
        if (_random.Chance(0.5))
        {
            Read(file, offset, buffer.Span);
            return ValueTask.CompletedTask;
        }

        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _world.Schedule(process, _random.Exponential(Options.WriteLatency + 1), SimEventKind.Disk, () =>
        {
            Read(file, offset, buffer.Span);
            done.SetResult();
        });
        return new ValueTask(done.Task);
    }

    /// <summary>The same, at once.</summary>
    public void Read(SimFile file, long offset, Span<byte> buffer)
    {
        int n = offset >= file.Length ? 0 : file.Read((int)offset, buffer);
        buffer[n..].Clear();
        if (!Serving || Options.Misread <= 0 || n == 0 || !_random.Chance(Options.Misread)) return;
        Misreads++;
        int at = _random.Next(n);
        buffer[at] ^= (byte)(1 << _random.Next(8));
        _world.Note("misread", _name, offset + at);
    }

    /// <summary>
    /// Power cut: un-synced writes survive as the dice fall. (A killed process leaves them in the cache: its successor
    /// finds all of them there, and a power cut may still take what it has not synced.)
    /// </summary>
    public void Crash()
    {
        foreach (SimFile file in _files.Values)
        {
            file.Crash(Options, _random, out int lost, out int torn);
            LostWrites += lost;
            TornWrites += torn;
            _world.Note("power cut", _name, lost, torn);
        }
    }
}
