using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using Corfu;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Model;

/// <summary>
/// Latest versions of one object and of its keys (Tango 3.2, Versioning; R18). Playback alone writes; other threads
/// read to abort early and to validate read-only transactions, hence the lock. It depends only on the object's stream
/// and the decisions in it, never on what Apply did: a rejected write counts, so that even an object whose code fails
/// can still be decided about.
/// </summary>
internal sealed class VersionTable(int capacity)
{
    // A table for so many is never made smaller.
    private const int FewKeys = 16;

    private readonly Lock _gate = new();
    private readonly Dictionary<byte[], Node> _keys = new(KeyBytesComparer.Instance);

    // The keys in the order of their latest versions: the first is the next to be evicted.
    private Node? _oldest;
    private Node? _newest;
    private RecordVersion? _lastKeyless;
    private RecordVersion? _lastAny;

    // R18: versions of keys that are not in the table are at or below the mark, or the last keyless write. Both are
    // functions of the stream, the capacity and the age alone: parameters in the log, never runtime options.
    private RecordVersion? _mark;

    /// <summary>First position after the last write of any kind.</summary>
    public LogPosition LastWriteEnd { get; private set; }

    /// <param name="maxAge">Versions more than so many positions below this one are forgotten.</param>
    public void Write(bool hasKey, ReadOnlySpan<byte> key, RecordVersion version, long maxAge)
    {
        lock (_gate)
        {
            _lastAny = version;
            LastWriteEnd = version.Position.Next;
            if (!hasKey)
            {
                // A keyless write conflicts with all that the versions and the mark below it do.
                (_lastKeyless, _mark) = (version, null);
                Clear();
                return;
            }

            Touch(key, version);
            if (_keys.Count > capacity) Evict();
            EvictBelow(version.Position.Offset - maxAge);
        }
    }

    /// <summary>Writes what the call says: its keys one after the other, or the object as a whole.</summary>
    public void Write(scoped in CallRecord call, RecordVersion version, long maxAge)
    {
        if (call.KeyList.IsEmpty)
        {
            Write(call.HasKey, call.Key.Span, version, maxAge);
            return;
        }

        var reader = new MessagePackReader(call.KeyList);
        for (var left = reader.ReadCount(); left > 0; left--)
            Write(hasKey: true, reader.ReadBinary().Span, version, maxAge);
    }

    /// <summary>Writes the object as a whole.</summary>
    public void WriteWhole(RecordVersion version) => Write(false, default, version, long.MaxValue);

    /// <summary>A copy, bounded by the capacity.</summary>
    public VersionTableState Capture()
    {
        lock (_gate)
        {
            var keys = ImmutableArray.CreateBuilder<KeyVersion>(_keys.Count);
            for (var node = _oldest; node is not null; node = node.Newer)
                keys.Add(new KeyVersion(node.Key, node.Version));
            return new VersionTableState(keys.MoveToImmutable(), _lastKeyless, _lastAny, _mark);
        }
    }

    /// <summary>R21: makes a new table what the captured one was, the order of eviction included.</summary>
    public void Restore(VersionTableState state)
    {
        lock (_gate)
        {
            foreach (var known in state.Keys) Touch(known.Key, known.Version);
            (_lastKeyless, _lastAny, _mark) = (state.LastKeyless, state.LastAny, state.LowWaterMark);
            if (_lastAny is { } last) LastWriteEnd = last.Position.Next;
        }
    }

    /// <summary>Whether a read made on everything below <paramref name="snapshotEnd"/> is no longer valid.</summary>
    /// <param name="hasKey">False: the read concerned the whole object and conflicts with any write.</param>
    public bool TryFindConflict(
        bool hasKey, ReadOnlySpan<byte> key, LogPosition snapshotEnd, [NotNullWhen(true)] out VersionConflict? conflict)
    {
        lock (_gate)
        {
            conflict = hasKey ? KeyedConflict(key, snapshotEnd) : Newer(_lastAny, snapshotEnd);
            return conflict is not null;
        }
    }

    /// <summary>Whether the key was written after that version, alone or with the whole object, or may have
    /// been.</summary>
    public bool MayBeNewer(ReadOnlySpan<byte> key, RecordVersion than)
    {
        lock (_gate)
        {
            return IsAbove(_mark, than) || IsAbove(_lastKeyless, than)
                || (Lookup().TryGetValue(key, out var node) && IsAbove(node.Version, than));
        }
    }

    private static bool IsAbove(RecordVersion? version, RecordVersion than) =>
        version is { } known && known.CompareTo(than) > 0;

    private static VersionConflict? Newer(RecordVersion? version, LogPosition snapshotEnd)
    {
        if (Planted.Is("conflict-off-by-one")) snapshotEnd = snapshotEnd.Next;
        return version is { } v && v.Position >= snapshotEnd ? new VersionConflict(AbortReason.Conflict, v) : null;
    }

    private VersionConflict? KeyedConflict(ReadOnlySpan<byte> key, LogPosition snapshotEnd)
    {
        if (_mark is { } mark && mark.Position >= snapshotEnd)
            return new VersionConflict(AbortReason.SnapshotTooOld, mark);
        if (Newer(_lastKeyless, snapshotEnd) is { } keyless) return keyless;
        return Lookup().TryGetValue(key, out var node) ? Newer(node.Version, snapshotEnd) : null;
    }

    private void Touch(ReadOnlySpan<byte> key, RecordVersion version)
    {
        if (Lookup().TryGetValue(key, out var node))
        {
            Unlink(node);
        }
        else
        {
            node = new Node(key.ToArray());
            _keys.Add(node.Key, node);
        }

        node.Version = version;
        node.Older = _newest;
        node.Newer = null;
        if (_newest is null) _oldest = node;
        else _newest.Newer = node;
        _newest = node;
    }

    // The key that was just written stays: ages are positive.
    private void EvictBelow(long offset)
    {
        if (_oldest!.Version.Position.Offset >= offset) return;
        while (_oldest!.Version.Position.Offset < offset)
        {
            Evict();
        }

        // Memory that a burst of keys took is given back.
        if (_keys.EnsureCapacity(0) > 4 * Math.Max(_keys.Count, FewKeys)) _keys.TrimExcess();
    }

    private void Clear()
    {
        if (_keys.Count == 0) return;
        _keys.Clear();
        if (_keys.EnsureCapacity(0) > FewKeys) _keys.TrimExcess();
        (_oldest, _newest) = (null, null);
    }

    private void Evict()
    {
        var evicted = _oldest!;
        Unlink(evicted);
        _keys.Remove(evicted.Key);
        if (!Planted.Is("forgets-old-versions-unmarked")) _mark = evicted.Version;
    }

    private void Unlink(Node node)
    {
        if (node.Older is null) _oldest = node.Newer;
        else node.Older.Newer = node.Newer;
        if (node.Newer is null) _newest = node.Older;
        else node.Newer.Older = node.Older;
    }

    private Dictionary<byte[], Node>.AlternateLookup<ReadOnlySpan<byte>> Lookup() =>
        _keys.GetAlternateLookup<ReadOnlySpan<byte>>();

    private sealed class Node(byte[] key)
    {
        public byte[] Key { get; } = key;

        public RecordVersion Version { get; set; }

        public Node? Older { get; set; }

        public Node? Newer { get; set; }
    }
}

/// <summary>Why a read is no longer valid, and the write that made it so.</summary>
internal sealed record VersionConflict(AbortReason Reason, RecordVersion Version);
