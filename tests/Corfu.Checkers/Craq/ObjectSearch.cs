namespace Corfu.Checkers;

/// <summary>
/// Looks for an order of one object's steps that explains them (after Wing and Gong, and Lowe). Versions fix the order
/// of most steps beforehand. What is searched is where the others took place: writes of unknown outcome, anywhere or
/// nowhere, and reads that showed no version.
/// </summary>
internal sealed class ObjectSearch
{
    // Steps with a place, in order. Required, all of them.
    private readonly List<ObjectStep> _placed;
    // Writes that may have taken effect.
    private readonly List<Floating> _writes = [];
    // Required steps without a place that change nothing.
    private readonly List<Floating> _reads = [];
    // Required writes without a version: they float, and must take effect.
    private readonly List<int> _requiredWrites = [];
    private readonly HashSet<Key> _visited = [];
    private (int Place, ObjectState State, ObjectStep? Step) _furthest = (-1, default, null);

    public ObjectSearch(IEnumerable<ObjectStep> steps)
    {
        var all = steps.ToList();
        _placed = [.. all.Where(step => step.Place > 0 && step.IsRequired).OrderBy(step => step.Place)
            .ThenBy(step => step.Call.Start)];
        foreach (var step in all.Where(step => step.Place == 0 || !step.IsRequired).OrderBy(step => step.Call.Start))
        {
            var floating = Place(step);
            if (!step.IsWrite)
            {
                _reads.Add(floating);
                continue;
            }

            if (step.IsRequired) _requiredWrites.Add(_writes.Count);
            _writes.Add(floating);
        }
    }

    /// <returns>Null: an order was found. Otherwise what contradicts what.</returns>
    public string? Run()
    {
        if (ObjectLinear.RealTime(_placed, static s => s.Call.Start, static s => s.Call.End) is var (early, late))
            return $"{late} ended before {early} began, and comes behind it by its version";
        if (_reads.Find(read => read.First > read.Last) is { } torn) return $"there is no moment for {torn.Step}";
        var stack = new Stack<Node>();
        stack.Push(new Node(0, ObjectState.Absent, new Bits(), new Bits(), 0));
        while (stack.TryPop(out var node))
        {
            node = node with { Reads = Satisfy(node) };
            if (!_visited.Add(new Key(node.At, node.State, node.Writes, node.Reads))) continue;
            if (_visited.Count > ObjectLinear.MostStates)
                return $"undecided after {ObjectLinear.MostStates} states: {_placed.Count} steps with a version, "
                    + $"{_writes.Count} writes and {_reads.Count} reads without";
            if (node.At == _placed.Count && IsComplete(node)) return null;

            // The last one pushed is tried first: the next known step; where that fails, a write that explains it.
            var next = TryNext(node);
            List<Node> explaining = [];
            for (var i = _writes.Count - 1; i >= 0; i--)
            {
                if (TryWrite(node, i) is not { } written) continue;
                if (next is null && Explains(written)) explaining.Add(written);
                else stack.Push(written);
            }

            foreach (var written in explaining) stack.Push(written);
            if (next is { } known) stack.Push(known);
        }

        return $"no order explains {_furthest.Step} behind {_furthest.State}, at step {_furthest.Place} of "
            + $"{_placed.Count}; {_writes.Count} writes of unknown outcome";
    }

    private Node? TryNext(Node node)
    {
        if (node.At == _placed.Count) return null;
        var missed = Missed(node);
        var after = missed is null ? _placed[node.At].After(node.State) : null;
        if (after is { } state) return node with { At = node.At + 1, State = state };
        if (node.At > _furthest.Place) _furthest = (node.At, node.State, missed ?? _placed[node.At]);
        return null;
    }

    private bool Explains(Node node)
    {
        node = node with { Reads = Satisfy(node) };
        return Missed(node) is null && (node.At == _placed.Count || _placed[node.At].After(node.State) is not null);
    }

    // A read without a version whose last moment is before the next placed step; null: none is left.
    private ObjectStep? Missed(Node node)
    {
        for (var i = 0; i < _reads.Count; i++)
        {
            if (_reads[i].Last <= node.At && !node.Reads.Has(i)) return _reads[i].Step;
        }

        return null;
    }

    private Node? TryWrite(Node node, int index)
    {
        var write = _writes[index];
        if (node.Writes.Has(index) || node.At < write.First || node.At > write.Last) return null;
        return write.Step.After(node.State) is { } state
            ? node with
            {
                State = state,
                Writes = node.Writes.With(index),
                Newest = Math.Max(node.Newest, write.Step.Call.Start),
            }
            : null;
    }

    /// <summary>Reads change nothing: the first moment that explains one is as good as any.</summary>
    private Bits Satisfy(Node node)
    {
        var reads = node.Reads;
        for (var i = 0; i < _reads.Count; i++)
        {
            var read = _reads[i];
            if (reads.Has(i) || node.At < read.First || node.At > read.Last) continue;
            if (read.Step.Call.End < node.Newest) continue;
            if (read.Step.After(node.State) is not null) reads = reads.With(i);
        }

        return reads;
    }

    private bool IsComplete(Node node)
    {
        if (_requiredWrites.Exists(index => !node.Writes.Has(index))) return false;
        for (var i = 0; i < _reads.Count; i++)
        {
            if (node.Reads.Has(i)) continue;
            if (_furthest.Place <= node.At) _furthest = (node.At, node.State, _reads[i].Step);
            return false;
        }

        return true;
    }

    // The gaps between placed steps in which a step may stand: gap i is before the placed step i.
    private Floating Place(ObjectStep step)
    {
        var (first, last) = (0, _placed.Count);
        var moment = step.Moment * 2;
        // An unknown write may take effect long after its caller was told so.
        var end = step.IsRequired ? step.Call.End : ObjectHistory.Never;
        for (var i = 0; i < _placed.Count; i++)
        {
            var placed = _placed[i];
            var isBefore = moment > 0 && placed.IsWrite && placed.Place < moment;
            var isBehind = moment > 0 && placed.IsWrite && placed.Place > moment;
            if (isBefore || placed.Call.End < step.Call.Start) first = i + 1;
            if (i < last && (isBehind || placed.Call.Start > end)) last = i;
        }

        return new Floating(step, first, last);
    }

    private sealed record Floating(ObjectStep Step, int First, int Last);

    /// <param name="At">Placed steps that are explained.</param>
    /// <param name="Newest">The latest start of a floating write that is in: a read that ended before it is before
    /// it.</param>
    private readonly record struct Node(int At, ObjectState State, Bits Writes, Bits Reads, long Newest);

    private readonly record struct Key(int At, ObjectState State, Bits Writes, Bits Reads);

    /// <summary>A set of small numbers, equal by its content.</summary>
    private readonly struct Bits(ulong[]? words) : IEquatable<Bits>
    {
        private readonly ulong[] _words = words ?? [];

        private ulong[] Words => _words ?? [];

        public bool Has(int index) => index >> 6 < Words.Length && (Words[index >> 6] >> (index & 63) & 1) != 0;

        public Bits With(int index)
        {
            var copy = new ulong[Math.Max(Words.Length, (index >> 6) + 1)];
            Words.CopyTo(copy, 0);
            copy[index >> 6] |= 1UL << (index & 63);
            return new Bits(copy);
        }

        public bool Equals(Bits other) => Words.AsSpan().SequenceEqual(other.Words);

        public override bool Equals(object? obj) => obj is Bits other && Equals(other);

        public override int GetHashCode()
        {
            var hash = new HashCode();
            foreach (var word in Words) hash.Add(word);
            return hash.ToHashCode();
        }
    }
}
