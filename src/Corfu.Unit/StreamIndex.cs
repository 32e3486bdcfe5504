using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// The newest K data positions of every stream on this unit: those below the installed epoch's start, which no longer
/// change and are what sequencers load (docs/protocol.md, Sequencer), and those of the running epoch, which become part
/// of them at the next install. With each stands the segment of the log whose record says so: before that segment goes,
/// the position is written down again. A stream takes about <see cref="BytesPerStream"/> bytes of memory;
/// <see cref="UnitCoreOptions.MaxStreams"/> bounds their number.
/// </summary>
internal sealed partial class StreamIndex
{
    private const int K = StreamHeader.MaxBackpointers;
    private const int SlabSize = 4096;

    /// <summary>Its lists (120) and its entry in the table of numbers (about 30).</summary>
    public const int BytesPerStream = 150;

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
        if (position.Offset < _start) Insert(ref tops.Frozen, ref tops.FrozenCount, top);
        else Insert(ref tops.Live, ref tops.LiveCount, top);
    }

    /// <summary>
    /// A higher epoch begins at <paramref name="start"/>: everything below is final now. Each stream hears of it when
    /// it is next looked at: appends wait for an install, and there may be millions of streams.
    /// </summary>
    public void Freeze(LogPosition start) => _start = start.Offset;

    /// <summary>The newest below a position that is not below the start, newest first.</summary>
    public ImmutableArray<LogPosition> NewestBelow(StreamId stream, LogPosition below)
    {
        if (!_numbers.TryGetValue(stream, out var number)) return [];
        ref var tops = ref At(number);
        var result = ImmutableArray.CreateBuilder<LogPosition>(K);
        for (var i = 0; i < tops.LiveCount; i++)
        {
            if (tops.Live[i].Position < below.Offset) result.Add(new LogPosition(tops.Live[i].Position));
        }

        for (var i = 0; i < tops.FrozenCount && result.Count < K; i++)
            result.Add(new LogPosition(tops.Frozen[i].Position));
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
        if (tops.FrozenBelow < _start) Freeze(ref tops);
        return ref tops;
    }

    private void Freeze(ref Tops tops)
    {
        tops.FrozenBelow = _start;
        if (tops.LiveCount == 0) return;
        var keep = default(Newest);
        byte kept = 0;
        for (var i = 0; i < tops.LiveCount; i++)
        {
            if (tops.Live[i].Position < _start) Insert(ref tops.Frozen, ref tops.FrozenCount, tops.Live[i]);
            else Insert(ref keep, ref kept, tops.Live[i]);
        }

        tops.Live = keep;
        tops.LiveCount = kept;
    }

    // Descending; a chain's copies arrive in any order, so a position may belong anywhere in it, or be there already:
    // then the later record counts, for the earlier ones go first.
    private static void Insert(ref Newest newest, ref byte count, Top top)
    {
        var at = 0;
        while (at < count && newest[at].Position > top.Position) at++;
        if (at == K) return;
        if (at < count && newest[at].Position == top.Position)
        {
            newest[at] = top with { Segment = Math.Max(top.Segment, newest[at].Segment) };
            return;
        }

        if (count < K) count++;
        for (var i = count - 1; i > at; i--) newest[i] = newest[i - 1];
        newest[at] = top;
    }

    [StructLayout(LayoutKind.Sequential, Pack = 4)]
    private readonly record struct Top(long Position, int Segment);

    [InlineArray(K)]
    private struct Newest
    {
        private Top _first;
    }

    private struct Tops
    {
        public StreamId Stream;
        public Newest Frozen;
        public Newest Live;

        // The start at which Live was last cleared of what is final; behind the index's until the stream is looked at.
        public long FrozenBelow;
        public byte FrozenCount;
        public byte LiveCount;
    }
}
