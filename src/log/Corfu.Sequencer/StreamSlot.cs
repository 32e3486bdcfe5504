using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Corfu.Sequencer;

/// <summary>A stream's last K positions, newest first (Tango 5: 32 bytes a stream), and the state of that
/// list.</summary>
internal struct StreamSlot
{
    [InlineArray(StreamHeader.MaxBackpointers)]
    private struct Positions
    {
        private long _first;
    }

    private Positions _positions;
    private byte _count;

    /// <summary>Granted to in this epoch: such a slot is nowhere else and is never evicted.</summary>
    public bool HasGrant { get; private set; }

    // Invariant: 0 <= UnitEnd <= WholeEnd <= WrittenEnd. Each is right behind the newest position granted in this epoch
    // whose entry may write so much of the stream; 0: none (R24).

    /// <summary>The end of any write.</summary>
    public long WrittenEnd { get; private set; }

    /// <summary>The end of a write of all cells.</summary>
    public long WholeEnd { get; private set; }

    /// <summary>The end of a deletion or change of the stream's unit.</summary>
    public long UnitEnd { get; private set; }

    /// <summary>Without a position: the stream has no entries.</summary>
    public readonly bool IsEmpty => _count == 0;

    public void Load(ImmutableArray<LogPosition> newestFirst)
    {
        _count = (byte)newestFirst.Length;
        for (var i = 0; i < newestFirst.Length; i++) _positions[i] = newestFirst[i].Offset;
    }

    /// <summary>Puts the run <paramref name="first"/>, first + 1, ... in front.</summary>
    public void Push(long first, int count)
    {
        var added = Math.Min(count, StreamHeader.MaxBackpointers);
        var kept = Math.Min(_count, StreamHeader.MaxBackpointers - added);
        for (var i = kept - 1; i >= 0; i--) _positions[i + added] = _positions[i];
        for (var i = 0; i < added; i++) _positions[i] = first + count - 1 - i;
        _count = (byte)(kept + added);
        HasGrant = true;
    }

    /// <summary>A grant of the position right below <paramref name="end"/> may write so much.</summary>
    public void Enter(ScopeKind kind, long end)
    {
        if (kind == ScopeKind.None) return;
        WrittenEnd = end;
        if (kind == ScopeKind.Keyed) return;
        WholeEnd = end;
        if (kind == ScopeKind.Unit) UnitEnd = end;
    }

    /// <summary>Positions at or above <paramref name="start"/> are of <paramref name="epoch"/>; of older ones the epoch
    /// is not known.</summary>
    public readonly StreamTail ToTail(StreamId stream, long start, Epoch epoch)
    {
        if (_count == 0) return new StreamTail(stream, []);
        var positions = new LogPosition[_count];
        for (var i = 0; i < positions.Length; i++)
            positions[i] = new LogPosition(_positions[i], _positions[i] >= start ? epoch : Epoch.None);
        return new StreamTail(stream, ImmutableCollectionsMarshal.AsImmutableArray(positions));
    }
}
