using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// The newest K data positions of every stream on this unit: those below the installed epoch's start, which no longer change and
/// are what sequencers load (design 4, Sequencer), and those of the running epoch, which become part of them at the next install.
/// </summary>
internal sealed class StreamIndex
{
    private const int K = StreamHeader.MaxBackpointers;

    private readonly Dictionary<StreamId, Tops> _streams = [];
    private long _start;

    public int Count => _streams.Count;

    public void Add(StreamId stream, LogPosition position)
    {
        ref var tops = ref CollectionsMarshal.GetValueRefOrAddDefault(_streams, stream, out _);
        if (position.Offset < _start) Insert(ref tops.Frozen, ref tops.FrozenCount, position.Offset);
        else Insert(ref tops.Live, ref tops.LiveCount, position.Offset);
    }

    /// <summary>A higher epoch begins at <paramref name="start"/>: everything below is final now.</summary>
    public void Freeze(LogPosition start)
    {
        _start = start.Offset;
        foreach (var stream in _streams.Keys)
        {
            ref var tops = ref CollectionsMarshal.GetValueRefOrNullRef(_streams, stream);
            var keep = default(Newest);
            byte kept = 0;
            for (var i = 0; i < tops.LiveCount; i++)
            {
                if (tops.Live[i] < _start) Insert(ref tops.Frozen, ref tops.FrozenCount, tops.Live[i]);
                else Insert(ref keep, ref kept, tops.Live[i]);
            }

            tops.Live = keep;
            tops.LiveCount = kept;
        }
    }

    /// <summary>Newest first, all below the start.</summary>
    public ImmutableArray<LogPosition> Frozen(StreamId stream)
    {
        if (!_streams.TryGetValue(stream, out var tops) || tops.FrozenCount == 0) return [];
        var result = ImmutableArray.CreateBuilder<LogPosition>(tops.FrozenCount);
        for (var i = 0; i < tops.FrozenCount; i++) result.Add(new LogPosition(tops.Frozen[i]));
        return result.MoveToImmutable();
    }

    // Descending; a chain's copies arrive in any order, so a position may belong anywhere in it, or be there already.
    private static void Insert(ref Newest newest, ref byte count, long position)
    {
        var at = 0;
        while (at < count && newest[at] > position) at++;
        if (at == K || (at < count && newest[at] == position)) return;
        if (count < K) count++;
        for (var i = count - 1; i > at; i--) newest[i] = newest[i - 1];
        newest[at] = position;
    }

    [InlineArray(K)]
    private struct Newest
    {
        private long _first;
    }

    private struct Tops
    {
        public Newest Frozen;
        public Newest Live;
        public byte FrozenCount;
        public byte LiveCount;
    }
}
