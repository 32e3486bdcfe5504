using System.Security.Cryptography;
using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.Conformance;

/// <summary>Segment files in memory that remember every operation, so that any crash can be played back; they can also
/// fail.</summary>
internal sealed class RecordingFiles : ISegmentFiles
{
    private readonly Lock _gate = new();
    private readonly SortedDictionary<int, byte[]> _segments = [];
    private readonly Dictionary<int, int> _lengths = [];
    private byte[] _mark = [];
    private int _markLength;

    public List<DiskEvent> Events { get; } = [];

    public int EventCount
    {
        get
        {
            lock (_gate) return Events.Count;
        }
    }

    /// <summary>Writes beyond this many bytes in all find the disk full.</summary>
    public long Capacity { get; set; } = long.MaxValue;

    /// <summary>Thrown by every sync from now on.</summary>
    public Exception? SyncError { get; set; }

    /// <summary>Thrown by every write of records from now on.</summary>
    public Exception? WriteError { get; set; }

    /// <summary>Free bytes that the file system reports.</summary>
    public long Free { get; set; } = long.MaxValue;

    /// <summary>The disk's size.</summary>
    public long Total { get; set; } = long.MaxValue;

    public (long Free, long Total) Room => (Free, Total);

    /// <summary>Syncs return and do nothing, as if the calls had been removed from the product.</summary>
    public bool IgnoresSyncs { get; init; }

    /// <summary>Held by the test to keep syncs from returning.</summary>
    public ManualResetEventSlim SyncAllowed { get; } = new(true);

    public long Used => _lengths.Values.Sum(l => (long)l);

    public void Note(DiskEvent note)
    {
        lock (_gate) Events.Add(note);
    }

    public IReadOnlyList<int> List()
    {
        lock (_gate) return [.. _segments.Keys];
    }

    public long Length(int segment)
    {
        lock (_gate) return _lengths[segment];
    }

    public void Create(int segment)
    {
        lock (_gate)
        {
            _segments.Add(segment, []);
            _lengths[segment] = 0;
            Events.Add(new DiskEvent.Create(segment));
        }
    }

    public void Delete(int segment)
    {
        lock (_gate)
        {
            _segments.Remove(segment);
            _lengths.Remove(segment);
            Events.Add(new DiskEvent.Delete(segment));
        }
    }

    public void Write(int segment, long offset, ReadOnlySpan<byte> bytes)
    {
        lock (_gate)
        {
            var end = (int)offset + bytes.Length;
            var grows = Math.Max(0, end - _lengths[segment]);
            if (grows > 0 && Used + grows > Capacity) throw FullDisk.Error();
            if (WriteError is not null) throw WriteError;
            Put(segment, (int)offset, bytes);
            Events.Add(new DiskEvent.Write(segment, offset, bytes.ToArray()));
        }
    }

    public ValueTask SyncAsync(int segment)
    {
        SyncAllowed.Wait();
        lock (_gate)
        {
            if (SyncError is not null) throw SyncError;
            if (!IgnoresSyncs) Events.Add(new DiskEvent.Sync(segment));
        }

        return ValueTask.CompletedTask;
    }

    public void Read(int segment, long offset, Span<byte> buffer)
    {
        lock (_gate)
        {
            buffer.Clear();
            if (!_segments.TryGetValue(segment, out var bytes)) return;
            var count = (int)Math.Min(buffer.Length, _lengths[segment] - offset);
            if (count > 0) bytes.AsSpan((int)offset, count).CopyTo(buffer);
        }
    }

    public bool TryReadCached(int segment, long offset, Span<byte> buffer) => false;

    public ValueTask ReadAsync(int segment, long offset, Memory<byte> buffer) =>
        new(Task.Run(() => Read(segment, offset, buffer.Span)));

    public ValueTask WriteMarkAsync(long offset, ReadOnlyMemory<byte> bytes)
    {
        lock (_gate)
        {
            PutMark((int)offset, bytes.Span);
            Events.Add(new DiskEvent.Mark(offset, bytes.ToArray(), Synced: true));
        }

        return ValueTask.CompletedTask;
    }

    public byte[] ReadMark()
    {
        lock (_gate) return _mark[.._markLength];
    }

    public void Dispose()
    {
    }

    /// <summary>Changes what is stored, unrecorded: damage.</summary>
    public void Damage(int segment, long offset, Func<byte, byte> change)
    {
        lock (_gate) _segments[segment][offset] = change(_segments[segment][offset]);
    }

    /// <summary>Everything as it is now, durable; a fresh recording.</summary>
    public RecordingFiles Copy(bool ignoresSyncs = false)
    {
        lock (_gate)
        {
            var copy = new RecordingFiles { IgnoresSyncs = ignoresSyncs };
            foreach (var (segment, bytes) in _segments)
            {
                copy._segments[segment] = (byte[])bytes.Clone();
                copy._lengths[segment] = _lengths[segment];
            }

            copy._mark = (byte[])_mark.Clone();
            copy._markLength = _markLength;
            return copy;
        }
    }

    /// <summary>
    /// The disk after a power cut behind the first <paramref name="count"/> events: on top of
    /// <paramref name="before"/>, what was synced is there, of the rest of each write the ranges that
    /// <paramref name="fate"/> names.
    /// </summary>
    public RecordingFiles AfterCrash(RecordingFiles before, int count, Func<DiskEvent.Write, IEnumerable<Range>> fate)
    {
        lock (_gate)
        {
            var disk = before.Copy();
            var lastSync = new Dictionary<int, int>();
            for (var i = 0; i < count; i++)
            {
                if (Events[i] is DiskEvent.Sync sync) lastSync[sync.Segment] = i;
            }

            for (var i = 0; i < count; i++)
            {
                switch (Events[i])
                {
                    case DiskEvent.Create create:
                        disk._segments[create.Segment] = [];
                        disk._lengths[create.Segment] = 0;
                        break;
                    case DiskEvent.Delete delete:
                        disk._segments.Remove(delete.Segment);
                        disk._lengths.Remove(delete.Segment);
                        break;
                    case DiskEvent.Write write when disk._segments.ContainsKey(write.Segment):
                        foreach (var range in i < lastSync.GetValueOrDefault(write.Segment, -1)
                            ? [Range.All]
                            : fate(write))
                        {
                            var (start, length) = range.GetOffsetAndLength(write.Bytes.Length);
                            disk.Put(write.Segment, (int)write.Offset + start, write.Bytes.AsSpan(start, length));
                        }

                        break;
                    case DiskEvent.Mark mark:
                        foreach (var range in mark.Synced
                            ? [Range.All]
                            : fate(new DiskEvent.Write(-1, mark.Offset, mark.Bytes)))
                        {
                            var (start, length) = range.GetOffsetAndLength(mark.Bytes.Length);
                            disk.PutMark((int)mark.Offset + start, mark.Bytes.AsSpan(start, length));
                        }

                        break;
                }
            }

            return disk;
        }
    }

    /// <summary>
    /// The disk as the next process finds it when one was killed behind the first <paramref name="count"/> events: all
    /// that was written is there, and what was not synced can still be lost.
    /// </summary>
    public RecordingFiles AfterKill(RecordingFiles before, int count)
    {
        var disk = AfterCrash(before, count, _ => [Range.All]);
        lock (_gate) disk.Events.AddRange(Events.Take(count));
        return disk;
    }

    /// <summary>Names the content: equal disks have equal digests.</summary>
    public byte[] Digest()
    {
        lock (_gate)
        {
            using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            foreach (var (segment, bytes) in _segments)
            {
                hash.AppendData(BitConverter.GetBytes(segment));
                hash.AppendData(BitConverter.GetBytes(_lengths[segment]));
                hash.AppendData(bytes.AsSpan(0, _lengths[segment]));
            }

            hash.AppendData(_mark.AsSpan(0, _markLength));
            return hash.GetHashAndReset();
        }
    }

    private void Put(int segment, int offset, ReadOnlySpan<byte> bytes)
    {
        var end = offset + bytes.Length;
        var stored = _segments[segment];
        if (stored.Length < end)
        {
            Array.Resize(ref stored, Math.Max(end, stored.Length * 2));
            _segments[segment] = stored;
        }

        bytes.CopyTo(stored.AsSpan(offset));
        _lengths[segment] = Math.Max(_lengths[segment], end);
    }

    private void PutMark(int offset, ReadOnlySpan<byte> bytes)
    {
        var end = offset + bytes.Length;
        if (_mark.Length < end) Array.Resize(ref _mark, end);
        bytes.CopyTo(_mark.AsSpan(offset));
        _markLength = Math.Max(_markLength, end);
    }
}
