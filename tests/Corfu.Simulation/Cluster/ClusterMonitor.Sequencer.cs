using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Cluster;

public sealed partial class ClusterMonitor
{
    private readonly Dictionary<(long Epoch, long Position), (string Client, long Time)> _grants = [];
    private readonly Dictionary<(long Epoch, ulong Stream), ImmutableArray<LogPosition>> _handOvers = [];
    private readonly HashSet<long> _explicitFills = [];
    private readonly Dictionary<long, long> _firstTokenEpoch = [];

    /// <summary>Shortest wait before a foreign hole may be filled, in ticks; set from the client's own
    /// options.</summary>
    public long ShortestFillWait { get; set; }

    /// <summary>The workload asks for a fill by hand: R10's wait does not bind it.</summary>
    public void FillAskedFor(LogPosition position) => _explicitFills.Add(position.Offset);

    private void TokenGranted(MessageInfo message, TokenRequest request, TokenResponse token)
    {
        long epoch = token.Epoch.Value;
        if (_projections.TryGetValue(epoch, out Projection? projection))
        {
            if (token.First < projection.Start)
            {
                Report(CheckerNames.TokenUnique,
                    $"the sequencer of e{epoch} granted {token.First.Offset}, below its start "
                    + $"{projection.Start.Offset}");
            }

            if (projection.Sequencer.Id != message.Node)
            {
                Report(CheckerNames.TokenUnique,
                    $"a sequencer that {projection.Epoch} does not name granted {token.First.Offset}");
            }
        }

        // A token whose records are all refused has no position.
        int granted = token.Rulings.IsEmpty ? request.Count : token.Rulings.Count(static ruling => ruling.IsGranted);
        foreach (Refusal refusal in token.Rulings.SelectMany(static ruling => ruling.Refused))
            Mark(refusal.Reason == RefusalReason.Written ? "refused by a grant" : "refused by the mark or the epoch");
        for (int i = 0; i < granted; i++)
        {
            long position = token.First.Offset + i;
            if (!_grants.TryAdd((epoch, position), (message.Client, world.Now)))
            {
                Report(CheckerNames.TokenUnique,
                    $"{position} was granted twice in e{epoch}: to {_grants[(epoch, position)].Client} and "
                    + $"{message.Client}");
            }

            if (_firstTokenEpoch.TryGetValue(position, out long older) && older != epoch)
                Mark("position granted again in a later epoch");
            _firstTokenEpoch.TryAdd(position, epoch);
            // A sequencer that was replaced without knowing it grants on: what a later epoch has written there is no
            // contradiction. Pages that a removed unit has kept count no more (R2).
            foreach (UnitView unit in projection?.Units.Select(u => _units[u.Id]) ?? [])
            {
                if (unit.Pages.TryGetValue(position, out StoredPage? page) && page.Epoch > 0 && page.Epoch < epoch)
                {
                    Report(CheckerNames.TokenUnique,
                        $"{position} was granted in e{epoch}, but {unit.Name} already holds {page} there");
                }
            }

            HighestGrant = Math.Max(HighestGrant, position);
        }
    }

    private void TailAnswered(MessageInfo message, TailResponse tail)
    {
        if (_projections.TryGetValue(tail.Epoch.Value, out Projection? projection)
            && projection.Sequencer.Id != message.Node)
        {
            Report(CheckerNames.TokenUnique,
                $"a sequencer that {projection.Epoch} does not name answered the tail {tail.Tail.Offset}");
        }
    }

    /// <summary>R10: only what was granted in the filler's epoch, and not at once, unless it lies below that epoch's
    /// start.</summary>
    private void FillReceived(MessageInfo message, FillRequest fill)
    {
        LogPosition position = EntryCodec.PeekPosition(fill.Entry.Span);
        long epoch = fill.Epoch.Value;
        Mark("fill sent");
        if (!_projections.TryGetValue(epoch, out Projection? projection))
        {
            Report(CheckerNames.FillRule, $"{message.Client} fills {position} in e{epoch}, which was never installed");
            return;
        }

        if (position < projection.Start || position.Offset > FarthestGrant) return;
        if (!_grants.TryGetValue((epoch, position.Offset), out (string Client, long Time) grant))
        {
            Report(CheckerNames.FillRule, $"{message.Client} fills {position}, which was not granted in its epoch");
        }
        else if (grant.Client != message.Client && !_explicitFills.Contains(position.Offset)
            && world.Now - grant.Time < ShortestFillWait)
        {
            Report(
                CheckerNames.FillRule,
                $"{message.Client} fills {position} {(world.Now - grant.Time) / 10_000.0:F3} ms after it was granted "
                + $"to {grant.Client}");
        }
    }

    /// <summary>The tails of a stream below an epoch's start are frozen: all hand-overs of it agree.</summary>
    private void HandOver(LoadStreamsRequest load)
    {
        foreach (StreamTail tail in load.Tails)
        {
            if (_handOvers.TryGetValue((load.Epoch.Value, tail.Stream.Value), out ImmutableArray<LogPosition> before))
            {
                if (!before.AsSpan().SequenceEqual(tail.Positions.AsSpan()))
                {
                    Report(
                        CheckerNames.HandOver,
                        $"stream {tail.Stream} in {load.Epoch}: [{string.Join(",", before)}] and "
                        + $"[{string.Join(",", tail.Positions)}] were handed over");
                }
            }
            else
            {
                _handOvers.Add((load.Epoch.Value, tail.Stream.Value), tail.Positions);
                Mark("stream handed over");
            }
        }
    }
}
