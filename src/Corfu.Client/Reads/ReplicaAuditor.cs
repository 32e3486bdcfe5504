using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// Compares what all full replicas hold. Units check whole pages and answer with the headers, whose check covers the
/// payload's, so equal headers mean equal pages; pages that differ are looked at, and repaired, one by one.
/// </summary>
internal sealed class ReplicaAuditor(UnitCalls units, ReadRepair repair, Retry retry)
{
    public ValueTask<ReplicaAudit> AuditAsync(LogPosition from, int count, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, MessageLimits.MaxItems);
        return retry.RunAsync(
            $"Comparing replicas from {from}", view => TryAsync(view, from, count, cancellationToken),
            cancellationToken);
    }

    private async ValueTask<Attempt<ReplicaAudit>> TryAsync(
        EpochView view, LogPosition from, int count, CancellationToken cancellationToken)
    {
        var copies = new List<PageResult>[count];
        var byUnit = new Dictionary<NodeId, List<LogPosition>>();
        for (var i = 0; i < count; i++)
        {
            copies[i] = [];
            var chain = view.Projection.ChainOf(from + i);
            foreach (var replica in chain.Replicas.Take(chain.FullCount))
            {
                if (!byUnit.TryGetValue(replica.Unit, out var positions)) byUnit[replica.Unit] = positions = [];
                positions.Add(from + i);
            }
        }

        var units = byUnit.Keys.ToList();
        var answers = await Task.WhenAll(units.Select(u => VerifyAsync(view, u, byUnit[u], cancellationToken)));
        foreach (var (status, _) in answers)
        {
            if (status != Status.Ok) return status;
        }

        // In chain order, whatever the order of the units.
        var held = new Dictionary<(NodeId Unit, LogPosition Position), PageResult>();
        for (var i = 0; i < units.Count; i++)
        {
            foreach (var page in answers[i].Pages) held[(units[i], page.Position)] = page;
        }

        for (var i = 0; i < count; i++)
        {
            var chain = view.Projection.ChainOf(from + i);
            foreach (var replica in chain.Replicas.Take(chain.FullCount)) copies[i].Add(held[(replica.Unit, from + i)]);
        }

        return await JudgeAsync(view, from, copies, cancellationToken);
    }

    private async Task<(Status Status, List<PageResult> Pages)> VerifyAsync(
        EpochView view, NodeId unit, List<LogPosition> positions, CancellationToken cancellationToken)
    {
        List<PageResult> pages = [];
        while (pages.Count < positions.Count)
        {
            var request = new ReadRequest(view.Epoch, [.. positions.Skip(pages.Count)], ReadDetail.Verify);
            var response = await units.CallAsync(view, unit, request, cancellationToken);
            if (!response.IsOk) return (response.Status, pages);
            pages.AddRange(response.Pages);
        }

        return (Status.Ok, pages);
    }

    private async ValueTask<Attempt<ReplicaAudit>> JudgeAsync(
        EpochView view, LogPosition from, List<PageResult>[] copies, CancellationToken cancellationToken)
    {
        int sound = 0, trimmed = 0, undecided = 0, mended = 0;
        List<LogPosition> unrecoverable = [], diverged = [];
        for (var i = 0; i < copies.Length; i++)
        {
            if (copies[i].TrueForAll(p => p.State == PageState.Trimmed))
            {
                trimmed++;
                continue;
            }

            if (
                copies[i].TrueForAll(
                    p =>
                        p.State is PageState.Data or PageState.Junk
                            && p.Bytes.Span.SequenceEqual(copies[i][0].Bytes.Span)))
            {
                sound++;
                continue;
            }

            // Written from the head down to somewhere: an append under way, and its writer's or the next reader's
            // business.
            if (IsPrefix(view, from + i, copies[i]))
            {
                undecided++;
                continue;
            }

            var outcome = await repair.RepairAsync(view, from + i, cancellationToken);
            if (!outcome.IsDone) return outcome.Status;
            switch (outcome.Value)
            {
                case RepairOutcome.Repaired:
                    mended++;
                    break;
                case RepairOutcome.Unrecoverable:
                    unrecoverable.Add(from + i);
                    break;
                case RepairOutcome.Diverged:
                    diverged.Add(from + i);
                    break;
                case RepairOutcome.Undecided:
                    undecided++;
                    break;
                default:
                    sound++;
                    break;
            }
        }

        return new ReplicaAudit(sound, trimmed, undecided, mended, [.. unrecoverable], [.. diverged]);
    }

    private static bool IsPrefix(EpochView view, LogPosition position, List<PageResult> copies)
    {
        if (position < view.Projection.Start && copies.Exists(p => p.State != PageState.Unwritten)) return false;
        var ended = false;
        foreach (var page in copies)
        {
            if (page.State is not (PageState.Data or PageState.Junk or PageState.Unwritten)) return false;
            if (ended && page.State != PageState.Unwritten) return false;
            ended |= page.State == PageState.Unwritten;
        }

        return ended;
    }
}

/// <summary>What a comparison of the replicas of a range of positions found.</summary>
/// <param name="Sound">Positions that all full replicas hold alike.</param>
/// <param name="Undecided">Positions without a value that everybody has: holes, appends under way, the end of the
/// log.</param>
/// <param name="Mended">Positions that a replica had lost or damaged, and has again.</param>
/// <param name="Unrecoverable">Positions without a good copy.</param>
/// <param name="Diverged">Positions whose good copies differ.</param>
public sealed record ReplicaAudit(
    int Sound, int Trimmed, int Undecided, int Mended, ImmutableArray<LogPosition> Unrecoverable,
    ImmutableArray<LogPosition> Diverged);
