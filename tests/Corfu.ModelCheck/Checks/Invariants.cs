using System.Collections.Immutable;
using Corfu.ModelCheck.Nodes;
using Corfu.ModelCheck.Processes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Checks;

/// <summary>Invariants of every state, over the nodes and the history.</summary>
public static class Invariants
{
    /// <returns>The broken invariant, or null.</returns>
    public static string? Find(History history, IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes, bool streams,
        bool justDecided)
    {
        var newest = history.Newest;
        for (var p = 0L; p < UnitState.Positions; p++)
        {
            var chain = newest.ChainOf(new LogPosition(p));
            if (Chain(history, ids, nodes, chain, p) is { } broken) return broken;
        }

        return Starts(newest, ids, nodes) ?? Granted(newest, ids, nodes) ?? Sequencer(history, ids, nodes, streams)
            ?? (justDecided ? Rebuilt(history, ids, nodes) : null);
    }

    private static string? Chain(History history, IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes, Chain chain,
        long p)
    {
        var head = PageOf(ids, nodes, chain.Head, p);
        for (var i = 1; i < chain.Replicas.Length; i++)
        {
            var page = PageOf(ids, nodes, chain.Replicas[i].Unit, p);
            if (!page.IsWritten) continue;
            for (var j = 0; j < Math.Min(i, chain.FullCount); j++)
            {
                var before = PageOf(ids, nodes, chain.Replicas[j].Unit, p);
                if (before.State != PageState.Trimmed && !before.SameValue(page))
                    return $"chain-prefix: at {p} {Names.Of(chain.Replicas[i].Unit)} holds {page}, and "
                        + $"{Names.Of(chain.Replicas[j].Unit)} before it {before}";
            }
        }

        if (head.State == PageState.Data && history.Refused.Contains(head.Origin))
            return $"exactly-once: {Names.Of(head.Origin)} was refused, and {p} holds it";
        foreach (var (position, origin) in history.Acknowledged)
        {
            if (position == p && Lacks(ids, nodes, chain, p, EntryKind.Data, origin) is { } unit)
                return $"nothing-lost: {Names.Of(origin)} is acknowledged at {p}, and {Names.Of(unit)} holds "
                    + $"{PageOf(ids, nodes, unit, p)}";
        }

        foreach (var (position, kind, origin) in history.Observed)
        {
            if (position == p && Lacks(ids, nodes, chain, p, kind, origin) is { } unit)
                return $"read-committed: a reader was shown {kind} {Names.Of(origin)} at {p}, and {Names.Of(unit)} "
                    + $"holds {PageOf(ids, nodes, unit, p)}";
        }

        return null;
    }

    private static NodeId? Lacks(IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes, Chain chain, long p,
        EntryKind kind, EntryOrigin origin)
    {
        for (var i = 0; i < chain.FullCount; i++)
        {
            var page = PageOf(ids, nodes, chain.Replicas[i].Unit, p);
            if (page.State == PageState.Trimmed) continue;
            if (page.State != (kind == EntryKind.Data ? PageState.Data : PageState.Junk) || page.Origin != origin)
                return chain.Replicas[i].Unit;
        }

        return null;
    }

    // R13: what is at or above the start of an epoch is of that epoch or a later one, at every unit that serves it.
    private static string? Starts(Projection newest, IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes)
    {
        foreach (var unit in newest.Units)
        {
            for (var p = newest.Start.Offset; p < UnitState.Positions; p++)
            {
                var page = PageOf(ids, nodes, unit.Id, p);
                if (page.IsWritten && page.Epoch < newest.Epoch)
                    return $"seal-complete: {newest.Epoch} starts at {newest.Start.Offset}, and {Names.Of(unit.Id)} "
                        + $"holds {page} at {p}";
            }
        }

        return null;
    }

    // R10: what is at or above the counter of the newest epoch's sequencer was never granted in it, so nothing may be
    // there.
    private static string? Granted(Projection newest, IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes)
    {
        var sequencer = (SequencerState)Of(ids, nodes, newest.Sequencer.Id);
        var tail = sequencer.Epoch == newest.Epoch ? sequencer.Tail.Offset : newest.Start.Offset;
        foreach (var unit in newest.Units)
        {
            for (var p = tail; p < UnitState.Positions; p++)
            {
                var page = PageOf(ids, nodes, unit.Id, p);
                if (page.IsWritten)
                    return $"granted: {Names.Of(unit.Id)} holds {page} at {p}, and {newest.Epoch} has granted only "
                        + $"what is below {tail}";
            }
        }

        return null;
    }

    // Nothing is acknowledged where the newest sequencer has not been; and it names every acknowledged entry of the
    // stream, if it knows the stream (K is larger than any scenario's log).
    private static string? Sequencer(History history, IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes,
        bool streams)
    {
        var newest = history.Newest;
        var sequencer = (SequencerState)Of(ids, nodes, newest.Sequencer.Id);
        if (sequencer.Epoch != newest.Epoch) return null;
        foreach (var (position, origin) in history.Acknowledged)
        {
            if (position >= sequencer.Tail.Offset)
                return $"token-unique: {position} is acknowledged, and the sequencer of {newest.Epoch} has come to "
                    + $"{sequencer.Tail.Offset}";
            if (streams && sequencer.StreamTail is { } tail && !tail.Positions.Contains(new LogPosition(position)))
                return $"stream-walk: {Names.Of(origin)} is acknowledged at {position}, and the stream's tail does "
                    + "not name it";
        }

        return null;
    }

    // R15: a unit becomes full when it holds what its source holds.
    private static string? Rebuilt(History history, IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes)
    {
        if (history.Epochs.Length < 2) return null;
        var (before, now) = (history.Epochs[^2], history.Epochs[^1]);
        foreach (var segment in now.Segments)
        {
            if (segment.Until is not { } until) continue;
            for (var p = segment.From.Offset; p < Math.Min(until.Offset, UnitState.Positions); p++)
            {
                var old = before.ChainOf(new LogPosition(p));
                var chain = segment.ChainOf(new LogPosition(p));
                foreach (var replica in chain.Replicas)
                {
                    if (replica.Joining || !old.Replicas.Contains(new Replica(replica.Unit, true))) continue;
                    var (source, target) = (PageOf(ids, nodes, chain.Head, p), PageOf(ids, nodes, replica.Unit, p));
                    if (source.State != PageState.Trimmed && !source.SameValue(target))
                        return $"rebuild-equal: {Names.Of(replica.Unit)} becomes full, and at {p} it holds {target}, "
                            + $"its source {source}";
                }
            }
        }

        return null;
    }

    private static PageView PageOf(IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes, NodeId unit, long p) =>
        ((UnitState)Of(ids, nodes, unit)).Pages[(int)p];

    private static NodeState Of(IReadOnlyList<NodeId> ids, ReadOnlySpan<NodeState> nodes, NodeId id)
    {
        for (var i = 0; i < ids.Count; i++)
        {
            if (ids[i] == id) return nodes[i];
        }

        throw new ModelException($"{Names.Of(id)} is no part of the scenario.");
    }
}
