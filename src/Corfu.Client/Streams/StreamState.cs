using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>What a cursor knows about one of its streams.</summary>
internal sealed class StreamState(StreamId stream, LogPosition from)
{
    public StreamId Stream { get; } = stream;

    /// <summary>Entries at or above are still to be delivered on this stream's account.</summary>
    public LogPosition Next { get; set; } = from;

    /// <summary>
    /// Every position of the stream in [<see cref="Next"/>, KnownUntil) is in <see cref="Ready"/> or below an anchor.
    /// </summary>
    public LogPosition KnownUntil { get; set; } = from;

    /// <summary>Ascending; complete from <see cref="Next"/> up to <see cref="ReadyUntil"/>.</summary>
    public List<LogPosition> Ready { get; set; } = [];

    public LogPosition ReadyUntil { get; set; } = from;

    /// <summary>Index into <see cref="Ready"/> of the first position not yet handed to a fetch.</summary>
    public int Fetched { get; set; }

    /// <summary>
    /// Places above <see cref="ReadyUntil"/> from which the walk can be taken up again, highest first: what is left of
    /// the pieces that did not fit into memory.
    /// </summary>
    public List<ImmutableArray<LogPosition>> Anchors { get; } = [];

    public bool IsStarved => Fetched >= Ready.Count && Anchors.Count > 0;

    /// <summary>Rewinds fetching to <paramref name="position"/> and forgets what lies below it.</summary>
    public void Rewind(LogPosition position)
    {
        var keep = FirstAtOrAbove(LogPosition.Max(position, Next));
        Ready.RemoveRange(0, keep);
        Fetched = 0;
    }

    /// <summary>Forgets what was delivered.</summary>
    public void Compact(LogPosition position)
    {
        var keep = Math.Min(FirstAtOrAbove(position), Fetched);
        Ready.RemoveRange(0, keep);
        Fetched -= keep;
    }

    /// <summary>
    /// Forgets positions at or above <paramref name="position"/>: learnt in an epoch that has ended, they may be
    /// granted anew (R10).
    /// </summary>
    public void ForgetFrom(LogPosition position)
    {
        if (Anchors.Count > 0)
        {
            Anchors.Clear();
            KnownUntil = ReadyUntil;
        }

        if (KnownUntil <= position) return;
        var keep = FirstAtOrAbove(position);
        Ready.RemoveRange(keep, Ready.Count - keep);
        Fetched = Math.Min(Fetched, Ready.Count);
        KnownUntil = ReadyUntil = LogPosition.Max(position, Next);
    }

    /// <summary>
    /// Takes in a finished walk that started at the stream's newest positions and ended at <see cref="KnownUntil"/>.
    /// </summary>
    public void Extend(StreamWalk walk, LogPosition knownUntil)
    {
        KnownUntil = knownUntil;
        if (walk.Chunks.Count == 0)
        {
            if (Anchors.Count == 0) ReadyUntil = knownUntil;
            return;
        }

        if (Anchors.Count > 0) Anchors.InsertRange(0, walk.Chunks.Select(c => c.Frontier));
        else Adopt(walk, knownUntil);
    }

    /// <summary>Takes in a finished walk that was taken up at the lowest anchor.</summary>
    public void Resume(StreamWalk walk)
    {
        Anchors.RemoveAt(Anchors.Count - 1);
        if (walk.Chunks.Count > 0) Adopt(walk, LogPosition.Min(KnownUntil, walk.Chunks[0].Frontier[0].Next));
        if (Anchors.Count == 0) ReadyUntil = KnownUntil;
    }

    private void Adopt(StreamWalk walk, LogPosition until)
    {
        var lowest = walk.Chunks[^1];
        for (var i = 0; i < walk.Chunks.Count - 1; i++) Anchors.Add(walk.Chunks[i].Frontier);
        lowest.Positions.Reverse();
        Ready.AddRange(lowest.Positions);
        ReadyUntil = walk.Chunks.Count == 1 ? until : lowest.Frontier[0].Next;
    }

    private int FirstAtOrAbove(LogPosition position)
    {
        var index = Ready.BinarySearch(position);
        return index < 0 ? ~index : index;
    }
}
