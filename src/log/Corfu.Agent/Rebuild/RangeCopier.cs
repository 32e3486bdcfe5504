using Corfu.Client.Layout;

namespace Corfu.Agent;

/// <summary>Decides every position of a closed range on every replica of its chain, joining ones too (R15). Batches
/// overlap; each is carried out under the newest projection known, as often as it takes.</summary>
internal sealed class RangeCopier(ClusterClient client, ITransport transport, RateLimit rate, TimeProvider time,
    RebuildOptions options, RebuildMeter meter)
{
    private readonly BatchCopier _batches = new(client, rate, options, meter);
    private readonly Lock _gate = new();

    // Guarded by _gate: the first position that no batch has taken.
    private long _next;

    /// <exception cref="RebuildException">A position cannot be decided.</exception>
    public async Task CopyAsync(LogPosition from, LogPosition until, CancellationToken cancellationToken)
    {
        _next = from.Offset;
        await PersistAsync(attempt => CopyMarkAsync(attempt, from, until), cancellationToken);
        meter.Did(_next - from.Offset);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await Task.WhenAll(Enumerable.Range(0, options.BatchesInFlight).Select(_ => WorkAsync(until.Offset, stop)));
        await PersistAsync(attempt => StreamTailCopier.CopyAsync(attempt, from, until), cancellationToken);
    }

    private async Task WorkAsync(long until, CancellationTokenSource stop)
    {
        try
        {
            while (NextBatch(until) is var (first, end) && first < end)
            {
                await PersistAsync(attempt => _batches.CopyAsync(attempt, first, end), stop.Token);
                meter.Did(end - first);
            }
        }
        catch
        {
            stop.Cancel();
            throw;
        }
    }

    private (long First, long End) NextBatch(long until)
    {
        lock (_gate)
        {
            var first = _next;
            _next = Math.Min(until, first + options.Batch);
            return (first, _next);
        }
    }

    /// <summary>Copies the trim mark first: what it covers need not be copied. Only as far as the range goes: a mark
    /// beyond it may lie above everything written, and must not pass the replicas that stand before the unit in an
    /// active chain (R13).</summary>
    private async ValueTask<Status> CopyMarkAsync(Attempt attempt, LogPosition from, LogPosition until)
    {
        var mark = attempt.Projection.TrimMark;
        var chains = attempt.ChainsOf(from, until);
        foreach (var source in chains.Select(c => c.Tail).Distinct())
        {
            var info = await attempt.CallAsync(source, new UnitInfoRequest(attempt.Epoch));
            if (!info.IsOk) return info.Status;
            mark = LogPosition.Max(mark, info.TrimMark);
        }

        mark = LogPosition.Min(mark, until);
        if (mark == LogPosition.Zero) return Status.Ok;
        foreach (var target in chains.SelectMany(c => c.Replicas).Where(r => r.Joining).Select(r => r.Unit).Distinct())
        {
            var trimmed = await attempt.CallAsync(target, new TrimPrefixRequest(attempt.Epoch, mark));
            if (!trimmed.IsOk) return trimmed.Status;
        }

        _next = Math.Max(from.Offset, mark.Offset);
        return Status.Ok;
    }

    private async Task PersistAsync(Func<Attempt, ValueTask<Status>> copy, CancellationToken cancellationToken)
    {
        var delay = options.RetryDelay;
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var projection = client.Projection;
            try
            {
                var status = await copy(new Attempt(transport, projection, cancellationToken));
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
            try
            {
                // The unit that does not answer may have been removed.
                await client.RefreshAsync(cancellationToken);
            }
            catch (LayoutUnavailableException e)
            {
                meter.Met(e.Message);
            }
        }
    }
}
