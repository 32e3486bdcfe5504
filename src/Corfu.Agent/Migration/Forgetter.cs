using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>
/// Has units give up what the projection has elsewhere: the disk space of migrated ranges (TOCS 2.6). Nobody depends on it, so what is missed now is left for
/// the next scrub.
/// </summary>
internal sealed class Forgetter(UnitCaller units)
{
    /// <returns>False when a unit did not do it: it is silent, or the epoch has ended.</returns>
    public async ValueTask<bool> RunAsync(Projection projection, LogPosition from, LogPosition until, CancellationToken cancellationToken)
    {
        foreach (var segment in projection.Segments)
        {
            var first = LogPosition.Max(from, segment.From);
            var end = LogPosition.Min(LogPosition.Min(until, segment.Until ?? projection.Start), projection.Start);
            foreach (var unit in projection.Units)
            {
                var residues = Elsewhere(segment.Chains, unit.Id);
                for (var at = first.Offset; !residues.IsEmpty && at < end.Offset; at += MessageLimits.MaxItems)
                {
                    var request = new ForgetRequest(
                        projection.Epoch, new LogPosition(at), new LogPosition(Math.Min(end.Offset, at + MessageLimits.MaxItems)), segment.Chains.Length, residues);
                    if (!await TryAsync(projection, unit.Id, request, cancellationToken)) return false;
                }
            }
        }

        return true;
    }

    // R1: position p is on chain p mod chains. Joining replicas are in their chains like others.
    private static ImmutableArray<int> Elsewhere(ImmutableArray<Chain> chains, NodeId unit) =>
        [.. Enumerable.Range(0, chains.Length).Where(i => !chains[i].Replicas.Any(r => r.Unit == unit))];

    private async ValueTask<bool> TryAsync(Projection projection, NodeId unit, ForgetRequest request, CancellationToken cancellationToken)
    {
        try
        {
            return (await units.CallAsync(projection, unit, request, cancellationToken)).IsOk;
        }
        catch (TransportException)
        {
            return false;
        }
    }
}
