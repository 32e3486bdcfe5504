using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>A unit as a dictionary: what the core must answer, kept by other means.</summary>
internal sealed class UnitModel
{
    private readonly Dictionary<long, (PageState State, byte[] Entry)> _pages = [];
    private readonly Dictionary<ulong, SortedSet<long>> _streams = [];

    public long Epoch { get; private set; } = 1;

    public long Start { get; private set; }

    public long Mark { get; private set; }

    public long End { get; private set; }

    public void Store(long position, byte[] entry, bool junk, ulong[] streams)
    {
        if (position < Mark || _pages.ContainsKey(position)) return;
        _pages[position] = (junk ? PageState.Junk : PageState.Data, entry);
        End = Math.Max(End, position + 1);
        if (junk) return;
        foreach (var stream in streams)
        {
            if (!_streams.TryGetValue(stream, out var positions)) _streams[stream] = positions = [];
            positions.Add(position);
        }
    }

    /// <summary>Takes stream tails of another replica, below the mark.</summary>
    public void Take(ulong stream, IEnumerable<long> positions)
    {
        if (!_streams.TryGetValue(stream, out var known)) _streams[stream] = known = [];
        known.UnionWith(positions);
    }

    public void Trim(long position)
    {
        if (position < Mark || StateOf(position) == PageState.Trimmed) return;
        var entry = _pages.TryGetValue(position, out var page) ? page.Entry[..EntryCodec.HeaderLength(page.Entry)] : [];
        _pages[position] = (PageState.Trimmed, entry);
        End = Math.Max(End, position + 1);
    }

    public void TrimPrefix(long below)
    {
        Mark = Math.Max(Mark, below);
        End = Math.Max(End, Mark);
    }

    public void Install()
    {
        Epoch++;
        Start = End;
    }

    public PageState StateOf(long position) =>
        position < Mark ? PageState.Trimmed : _pages.GetValueOrDefault(position).State;

    public byte[] BytesOf(long position) =>
        position < Mark || !_pages.TryGetValue(position, out var page) ? [] : page.Entry;

    public long[] TailsOf(ulong stream) =>
        _streams.TryGetValue(stream, out var positions)
            ? [.. positions.Reverse().Where(p => p < Start).Take(StreamHeader.MaxBackpointers)]
            : [];
}
