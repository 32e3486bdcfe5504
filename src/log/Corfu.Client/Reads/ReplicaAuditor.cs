namespace Corfu.Client;

/// <summary>Compares what all full replicas hold. Units check whole pages and answer with the headers, whose check
/// covers the payload's, so equal headers mean equal pages. Pages that differ are compared, and repaired, one by
/// one.</summary>
internal sealed class ReplicaAuditor(UnitCalls units, ReadRepair repair, Retry retry)
{
    public ValueTask<ReplicaAudit> AuditAsync(LogPosition from, int count, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, MessageLimits.MaxItems);
        var positions = Enumerable.Range(0, count).Select(i => from + i).ToList();
        return retry.RunAsync(
            $"Comparing replicas from {from}", view => TryAsync(view, positions, cancellationToken), cancellationToken);
    }

    private async ValueTask<Attempt<ReplicaAudit>> TryAsync(
        EpochView view, List<LogPosition> positions, CancellationToken cancellationToken)
    {
        var byUnit = positions
            .SelectMany(p => view.Projection.ChainOf(p).FullUnits, (p, unit) => (Position: p, Unit: unit))
            .GroupBy(p => p.Unit, p => p.Position).ToList();
        var answers = await Task.WhenAll(byUnit.Select(g => VerifyAsync(view, g.Key, [.. g], cancellationToken)));
        var held = new Dictionary<(NodeId Unit, LogPosition Position), PageResult>();
        for (var i = 0; i < byUnit.Count; i++)
        {
            if (answers[i].Status != Status.Ok) return answers[i].Status;
            foreach (var page in answers[i].Pages) held[(byUnit[i].Key, page.Position)] = page;
        }

        var outcomes = new List<(LogPosition Position, RepairOutcome Outcome)>();
        foreach (var position in positions)
        {
            var copies = view.Projection.ChainOf(position).FullUnits.Select(u => held[(u, position)]).ToList();
            var outcome = await JudgeAsync(view, position, copies, cancellationToken);
            if (!outcome.IsDone) return outcome.Status;
            outcomes.Add((position, outcome.Value));
        }

        return new ReplicaAudit(
            Count(RepairOutcome.Sound), Count(RepairOutcome.Trimmed), Count(RepairOutcome.Undecided),
            Count(RepairOutcome.Repaired), Of(RepairOutcome.Unrecoverable), Of(RepairOutcome.Diverged));

        int Count(RepairOutcome outcome) => outcomes.Count(o => o.Outcome == outcome);

        ImmutableArray<LogPosition> Of(RepairOutcome outcome) =>
            [.. outcomes.Where(o => o.Outcome == outcome).Select(o => o.Position)];
    }

    private async Task<(Status Status, List<PageResult> Pages)> VerifyAsync(
        EpochView view, NodeId unit, ImmutableArray<LogPosition> positions, CancellationToken cancellationToken)
    {
        List<PageResult> pages = [];
        while (pages.Count < positions.Length)
        {
            var request = new ReadRequest(view.Epoch, positions[pages.Count..], ReadDetail.Verify);
            var response = await units.CallAsync(view, unit, request, cancellationToken);
            if (!response.IsOk) return (response.Status, pages);
            pages.AddRange(response.Pages);
        }

        return (Status.Ok, pages);
    }

    private async ValueTask<Attempt<RepairOutcome>> JudgeAsync(
        EpochView view, LogPosition position, List<PageResult> copies, CancellationToken cancellationToken)
    {
        if (copies.TrueForAll(p => p.State == PageState.Trimmed)) return RepairOutcome.Trimmed;
        var equal = copies.TrueForAll(
            p => p.State is PageState.Data or PageState.Junk && p.Bytes.Span.SequenceEqual(copies[0].Bytes.Span));
        if (equal) return RepairOutcome.Sound;

        // An append under way: its writer or the next reader completes it.
        if (IsPrefix(view, position, copies)) return RepairOutcome.Undecided;
        return await repair.RepairAsync(view, position, cancellationToken);
    }

    /// <summary>Written from the head down to somewhere.</summary>
    private static bool IsPrefix(EpochView view, LogPosition position, List<PageResult> copies)
    {
        if (position < view.Projection.Start && copies.Exists(p => p.State != PageState.Unwritten)) return false;
        var written = copies.TakeWhile(p => p.State is PageState.Data or PageState.Junk).Count();
        return written < copies.Count && copies.Skip(written).All(p => p.State == PageState.Unwritten);
    }
}

/// <summary>The result of comparing the replicas of a range of positions.</summary>
/// <param name="Sound">Positions that all full replicas hold alike.</param>
/// <param name="Undecided">Positions without a value that all full replicas have: holes, appends under way, the end of
/// the log.</param>
/// <param name="Mended">Positions that a replica had lost or damaged, and has again.</param>
/// <param name="Unrecoverable">Positions without a good copy.</param>
/// <param name="Diverged">Positions whose good copies differ.</param>
public sealed record ReplicaAudit(int Sound, int Trimmed, int Undecided, int Mended,
    ImmutableArray<LogPosition> Unrecoverable, ImmutableArray<LogPosition> Diverged);
