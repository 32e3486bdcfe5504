using System.Collections.Immutable;
using Corfu.ModelCheck.Processes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Traces;

/// <summary>The model's <see cref="Reconfigurer"/> and its <see cref="LayoutOperation"/>, driven by what a process of
/// the simulator knows: seal before propose, the start above all seals, one value for a ballot, copies from the chain's
/// tail, full behind the last of them.</summary>
internal sealed class ReconfigurerReplay(Knowledge known, DecidedProjections projections)
{
    /// <summary>Whether a majority promised under this ballot, and left the process this value to propose.</summary>
    public bool MayPropose(AcceptRequest request)
    {
        var slot = request.Value.Epoch;
        var deciders = projections.DecidersOf(slot);
        var promises = known.PromisesOf(slot, request.Ballot)
            .Select(p => (Index: deciders.IndexOf(deciders.FirstOrDefault(a => a.Id == p.Acceptor)), p.Answer))
            .Where(p => p.Index >= 0).DistinctBy(p => p.Index).ToList();
        return Proposes(promises, deciders, null, request.Value)
            || (Proposes(promises, deciders, request.Value, request.Value) && IsSealed(request.Value));
    }

    /// <summary>Whether the entry may be copied to this joining replica: the chain's tail was read to hold it, in this
    /// epoch or since. The value of a position is the same in all.</summary>
    public bool MayCopy(NodeId to, CompleteRequest request)
    {
        var position = EntryCodec.PeekPosition(request.Entry.Span);
        var replicas = projections.Of(request.Epoch)?.ChainOf(position).Replicas ?? [];
        return replicas.Contains(new Replica(to, true))
            && projections.After(new Epoch(request.Epoch.Value - 1)).Any(IsCopyIn);

        bool IsCopyIn(Projection view)
        {
            var idle = Idle(view, new ReconfigurerTask("copies", static _ => null) { Rebuild = to });
            var copier = idle with { Stage = ReconfigurerStage.CopyLook, Copy = position.Offset };
            return known.AnswersTo(copier.Calls[0], needsEntry: true)
                .Select(answer => (Reconfigurer)copier.Answer(0, answer).Next)
                .Any(r => r.Stage == ReconfigurerStage.CopyComplete
                    && r.Entry.Span.SequenceEqual(request.Entry.Span));
        }
    }

    // Some of the answers that came, in their order, are those that the model's proposer had.
    private static bool Proposes(List<(int Index, LayoutResponse Answer)> promises,
        ImmutableArray<NodeAddress> deciders, Projection? own, Projection value)
    {
        for (var chosen = 1; chosen < 1 << promises.Count; chosen++)
        {
            var proposer = new LayoutOperation('T', deciders, LayoutPhase.Prepare, value.Epoch, own, Flaw.None);
            var next = proposer;
            for (var i = 0; i < promises.Count && next is { Phase: LayoutPhase.Prepare, Round: 1 }; i++)
            {
                if ((chosen & (1 << i)) != 0) next = next.Take(promises[i].Index, promises[i].Answer).Next;
            }

            if (next is { Phase: LayoutPhase.Accept } accepting && value.Equals(accepting.Value)) return true;
        }

        return false;
    }

    /// <summary>Whether the process had the seals that its own proposal needs (R13).</summary>
    private bool IsSealed(Projection proposed)
    {
        if (projections.Of(new Epoch(proposed.Epoch.Value - 1)) is not { } before) return false;
        if (!IsRebuilt(before, proposed)) return false;
        var seals = known.SealsOf(proposed.Epoch).ToList();
        var active = proposed.Segments.Last(s => s.From <= before.Active.From).Chains;
        if (IsSealed(before, proposed, active, seals)) return true;

        // Nothing was written in the active segment, and another takes its place: its chains are those that were left.
        ImmutableArray<Chain> left =
            [.. before.Active.Chains.Select(c => new Chain([.. c.Replicas.Where(r => proposed.HasUnit(r.Unit))]))];
        return proposed.Start == before.Active.From && IsSealed(before, proposed, left, seals);
    }

    /// <summary>Whether every position of a closed range is decided on the joining replicas that become full there
    /// (R15): the model's reconfigurer admits a unit behind its last copy.</summary>
    private bool IsRebuilt(Projection before, Projection proposed)
    {
        foreach (var segment in before.Segments[..^1].Where(s => s.Chains.Any(c => c.FullCount < c.Replicas.Length)))
        {
            for (var position = segment.From; position < segment.Until; position = position.Next)
            {
                var full = proposed.ChainOf(position).FullUnits;
                if (segment.ChainOf(position).Replicas.Any(r =>
                    r.Joining && full.Contains(r.Unit) && !known.IsDecidedAt(position.Offset, r.Unit))) return false;
            }
        }

        return true;
    }

    private static bool IsSealed(Projection before, Projection proposed, ImmutableArray<Chain> active,
        List<(NodeId Unit, SealResponse Answer)> seals)
    {
        if (ChangeOf(before, proposed, active, out var current) is not { } change) return false;
        var begins = Idle(current, new ReconfigurerTask("proposes", _ => change)).Choices[0].Next;
        for (var first = 0; first < seals.Count; first++)
        {
            // A round of seals begins anew where an earlier one of this process failed.
            var (state, others) = (begins, LogPosition.Zero);
            foreach (var (unit, answer) in seals.Skip(first))
            {
                var call = state.Calls.Select(c => c.To).ToList().IndexOf(unit);
                if (call >= 0) state = state.Answer(call, answer).Next;
                else others = LogPosition.Max(others, answer.End);
                if (state.Choices is [var step] && IsStart(((Reconfigurer)step.Next).Layout!.Own!.Start, others))
                    return true;
            }
        }

        return false;

        // Production seals the units of new chains as well: they raise the start, and never lower it.
        bool IsStart(LogPosition start, LogPosition others) =>
            proposed.Start == start || proposed.Start == LogPosition.Max(start, others);
    }

    /// <summary>The change between two projections as the model's reconfigurer has it: the segments that were, with the
    /// chains that they have afterwards. Lists of chains are repeated to one length, which says the same
    /// (R1).</summary>
    /// <returns>Null when a chain is left without a survivor.</returns>
    private static Change? ChangeOf(
        Projection before, Projection after, ImmutableArray<Chain> active, out Projection current)
    {
        var (old, next) = (before.Segments.ToBuilder(), before.Segments.ToBuilder());
        var hasSurvivors = true;
        for (var i = 0; i < before.Segments.Length; i++)
        {
            var segment = before.Segments[i];
            var isActive = i == before.Segments.Length - 1;
            var chains = isActive ? active : after.Segments.Last(s => s.From <= segment.From).Chains;
            old[i] = segment with { Chains = Repeat(segment.Chains, chains.Length) };
            next[i] = segment with { Chains = Repeat(chains, segment.Chains.Length) };
            hasSurvivors &= old[i].Chains.Zip(next[i].Chains).All(
                p => p.Second.FullCount > 0 && p.First.Replicas.Any(r => r.Unit == p.Second.Head));
        }

        current = new Projection(before.Cluster, before.Epoch, before.Sequencer, before.Start, before.TrimMark,
            old.ToImmutable(), before.Units, before.Acceptors, before.Reason);
        return hasSurvivors ? new Change(after.Sequencer.Id, next.ToImmutable(), null) : null;
    }

    private static ImmutableArray<Chain> Repeat(ImmutableArray<Chain> chains, int times) =>
        [.. Enumerable.Repeat(chains, times).SelectMany(c => c)];

    private static Reconfigurer Idle(Projection current, ReconfigurerTask task) =>
        new('T', [task], current, current.Acceptors, Flaw.None);
}
