using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>
/// Decides every position of a closed range on every replica of its chain, joining ones too (R15). Batches overlap;
/// each is carried out under the newest projection known, as often as it takes.
/// </summary>
internal sealed class RangeCopier(
    CorfuClient client, UnitCaller units, BatchCopier batches, TimeProvider time, RebuildOptions options,
    RebuildMeter meter)
{
    private readonly StreamTailCopier _tails = new(units);
    private readonly Lock _gate = new();

    // Guarded by _gate: the first position that no batch has taken.
    private long _next;

    /// <exception cref="RebuildException">A position cannot be decided.</exception>
    public async Task CopyAsync(LogPosition from, LogPosition until, CancellationToken cancellationToken)
    {
        _next = from.Offset;
        await PersistAsync(projection => CopyMarkAsync(projection, from, until, cancellationToken), cancellationToken);
        meter.Did(_next - from.Offset);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var workers = new List<Task>();
        for (var i = 0; i < options.BatchesInFlight; i++) workers.Add(WorkAsync(until.Offset, stop));
        await Task.WhenAll(workers);
        await PersistAsync(projection => _tails.CopyAsync(projection, from, until, cancellationToken),
            cancellationToken);
    }

    private async Task WorkAsync(long until, CancellationTokenSource stop)
    {
        try
        {
            while (true)
            {
                long first;
                long end;
                lock (_gate)
                {
                    first = _next;
                    end = Math.Min(until, first + options.Batch);
                    _next = end;
                }

                if (first >= end) return;
                await PersistAsync(projection => batches.CopyAsync(projection, first, end, stop.Token), stop.Token);
                meter.Did(end - first);
            }
        }
        catch
        {
            stop.Cancel();
            throw;
        }
    }

    /// <summary>
    /// Copies the trim mark first: what it covers need not be copied. Only as far as the range goes: a mark beyond it
    /// may lie above everything written, and must not pass those that stand before the unit in an active chain (R13).
    /// </summary>
    private async ValueTask<Status> CopyMarkAsync(Projection projection, LogPosition from, LogPosition until,
        CancellationToken cancellationToken)
    {
        var mark = projection.TrimMark;
        var targets = new List<NodeId>();
        foreach (var segment in projection.Segments)
        {
            if (segment.From >= until || segment.Until <= from) continue;
            foreach (var replica in segment.Chains.SelectMany(c => c.Replicas))
            {
                if (replica.Joining && !targets.Contains(replica.Unit)) targets.Add(replica.Unit);
            }

            foreach (var source in segment.Chains.Select(c => c.Tail).Distinct())
            {
                var info = await units.CallAsync(projection, source, new UnitInfoRequest(projection.Epoch),
                    cancellationToken);
                if (!info.IsOk) return info.Status;
                mark = LogPosition.Max(mark, info.TrimMark);
            }
        }

        mark = LogPosition.Min(mark, until);
        if (mark == LogPosition.Zero) return Status.Ok;
        foreach (var target in targets)
        {
            var trimmed = await units.CallAsync(projection, target, new TrimPrefixRequest(projection.Epoch, mark),
                cancellationToken);
            if (!trimmed.IsOk) return trimmed.Status;
        }

        _next = Math.Max(from.Offset, mark.Offset);
        return Status.Ok;
    }

    private async Task PersistAsync(Func<Projection, ValueTask<Status>> attempt, CancellationToken cancellationToken)
    {
        var delay = options.RetryDelay;
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var projection = client.Projection;
            try
            {
                var status = await attempt(projection);
                if (status == Status.Ok) return;
                meter.Met($"a unit says {status}");
                if (status == Status.Sealed)
                {
                    await client.NewerThanAsync(projection.Epoch, cancellationToken);
                    continue;
                }
            }
            catch (Exception e)
                when (e is TransportException or LogUnavailableException or LayoutUnavailableException
                    or LogIsMirrorException)
            {
                meter.Met(e.Message);
            }

            await Task.Delay(delay, time, cancellationToken);
            delay = TimeSpan.FromTicks(Math.Min(delay.Ticks * 2, options.MaxRetryDelay.Ticks));
            await TryRefreshAsync(cancellationToken);
        }
    }

    // Perhaps the unit that does not answer has been removed.
    private async Task TryRefreshAsync(CancellationToken cancellationToken)
    {
        try
        {
            await client.RefreshAsync(cancellationToken);
        }
        catch (LayoutUnavailableException e)
        {
            meter.Met(e.Message);
        }
    }
}
