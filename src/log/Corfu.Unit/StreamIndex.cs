using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Corfu.Unit;

/// <summary>The newest K data positions of every stream on this unit. Frozen ones lie below the installed epoch's
/// start; sequencers load them (docs/protocol.md, Sequencer). Live ones belong to the running epoch and freeze at the
/// next install. Each position has the segment of the log whose record states it: before that segment is deleted, the
/// position is recorded again. A stream takes about 150 bytes: its lists (120) and its entry in the table of numbers;
/// <see cref="UnitCoreOptions.MaxStreams"/> bounds their number.</summary>
internal sealed partial class StreamIndex
{
    private const int K = StreamHeader.MaxBackpointers;
    private const int SlabSize = 4096;

    // Numbers are given in order and never change, so that a long walk can stop and go on while streams are added.
    private readonly Dictionary<StreamId, int> _numbers = [];
    private readonly List<Tops[]> _slabs = [];
    private long _start;

    public int Count => _numbers.Count;

    public bool Knows(StreamId stream) => _numbers.ContainsKey(stream);

    public void Add(StreamId stream, LogPosition position, int segment)
    {
        ref var tops = ref Get(stream);
        var top = new Top(position.Offset, segment);
        if (position.Offset < _start) tops.Frozen.Insert(top);
        else tops.Live.Insert(top);
    }

    /// <summary>A higher epoch begins at <paramref name="start"/>: everything below is final now. Appends wait for an
    /// install and there may be millions of streams, so each stream freezes when it is next accessed.</summary>
    public void Freeze(LogPosition start) => _start = start.Offset;

    /// <summary>The newest below a position that is not below the start, newest first.</summary>
    public ImmutableArray<LogPosition> NewestBelow(StreamId stream, LogPosition below)
    {
        if (!_numbers.TryGetValue(stream, out var number)) return [];
        ref var tops = ref At(number);
        var result = ImmutableArray.CreateBuilder<LogPosition>(K);
        foreach (var top in tops.Live.Span)
        {
            if (top.Position < below.Offset) result.Add(new LogPosition(top.Position));
        }

        for (var i = 0; i < tops.Frozen.Count && result.Count < K; i++)
            result.Add(new LogPosition(tops.Frozen.Span[i].Position));
        return result.DrainToImmutable();
    }

    private ref Tops Get(StreamId stream)
    {
        ref var number = ref CollectionsMarshal.GetValueRefOrAddDefault(_numbers, stream, out var known);
        if (!known)
        {
            number = _numbers.Count - 1;
            if (number / SlabSize == _slabs.Count) _slabs.Add(new Tops[SlabSize]);
            At(number).Stream = stream;
        }

        return ref At(number);
    }

    private ref Tops At(int number)
    {
        ref var tops = ref _slabs[number / SlabSize][number % SlabSize];
        if (tops.FrozenBelow < _start) tops.Freeze(_start);
        return ref tops;
    }

    /// <param name="Segment">Segment of the record that states the position.</param>
    [StructLayout(LayoutKind.Sequential, Pack = 4)]
    private readonly record struct Top(long Position, int Segment);

    [InlineArray(K)]
    private struct Slots
    {
        private Top _first;
    }

    /// <summary>At most K positions, newest first.</summary>
    private struct Newest
    {
        private Slots _slots;
        private byte _count;

        public readonly int Count => _count;

        [UnscopedRef] public Span<Top> Span => ((Span<Top>)_slots)[.._count];

        public void Clear() => _count = 0;

        // Copies reach a chain in any order, so a position may belong anywhere, or be there already: then the later
        // record counts, for earlier segments are deleted first.
        public void Insert(Top top)
        {
            var at = 0;
            while (at < _count && _slots[at].Position > top.Position) at++;
            if (at == K) return;
            if (at < _count && _slots[at].Position == top.Position)
            {
                _slots[at] = top with { Segment = Math.Max(top.Segment, _slots[at].Segment) };
                return;
            }

            if (_count < K) _count++;
            for (var i = _count - 1; i > at; i--) _slots[i] = _slots[i - 1];
            _slots[at] = top;
        }
    }

    private struct Tops
    {
        public StreamId Stream;
        public Newest Frozen;
        public Newest Live;

        // The start at which Live was last cleared of what is final; FrozenBelow <= the index's start.
        public long FrozenBelow;

        public void Freeze(long start)
        {
            FrozenBelow = start;
            var live = Live;
            Live.Clear();
            foreach (var top in live.Span)
            {
                if (top.Position < start) Frozen.Insert(top);
                else Live.Insert(top);
            }
        }
    }
}
