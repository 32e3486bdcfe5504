using System.Collections.Immutable;
using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Hosting;

/// <summary>
/// TOCS 2.5 with nothing changed but the sequencer: seal all units of the active segment, compute the start, propose. The caller installs.
/// </summary>
internal sealed class SequencerReplacement(ITransport transport, LayoutClient layout)
{
    private const int MaxRounds = 16;

    public async Task<Projection> RunAsync(Projection current, NodeAddress sequencer, CancellationToken cancellationToken)
    {
        for (var round = 0; round < MaxRounds; round++)
        {
            if (current.Sequencer.Id == sequencer.Id) return current;
            var units = current.Active.Chains.SelectMany(chain => chain.Replicas).Select(replica => replica.Unit).Distinct();
            var seals = await Task.WhenAll(units.Select(unit => SealAsync(current, unit, cancellationToken)));
            // R13: the membership stays, so each chain's first survivor is its head; all units are asked for, so all heads are.
            if (seals.FirstOrDefault(seal => !seal.IsOk) is { } refusal)
            {
                if (refusal.Status != Status.Sealed) throw CorfuException.FromStatus(refusal.Status, "A unit refuses the seal");
                current = await layout.ReadLatestAsync(current.Acceptors, cancellationToken) ?? current;
                continue;
            }

            var start = seals.Aggregate(current.Start, (highest, seal) => LogPosition.Max(highest, seal.End));
            var mark = seals.Aggregate(current.TrimMark, (highest, seal) => LogPosition.Max(highest, seal.TrimMark));
            var next = new Projection(
                current.Cluster, current.Epoch.Next, sequencer, start, mark, current.Segments, current.Units, current.Acceptors, "a sequencer was started");
            current = await layout.ProposeAsync(current, next, cancellationToken);
        }

        throw new NodeStartException($"The sequencer {sequencer} could not take over: others kept beginning new epochs.");
    }

    private ValueTask<SealResponse> CallAsync(Projection current, NodeId unit, CancellationToken cancellationToken) =>
        transport.CallAsync(current.AddressOf(unit), new SealRequest(current.Epoch.Next), cancellationToken);

    private async Task<SealResponse> SealAsync(Projection current, NodeId unit, CancellationToken cancellationToken) =>
        await CallAsync(current, unit, cancellationToken);
}
