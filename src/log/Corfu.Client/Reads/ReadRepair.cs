using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>Read repair: replicas get back the pages that they lost or hold damaged, from good copies of the same
/// chain. Readers schedule positions and go on; positions are repaired one at a time. A failed repair is left to the
/// next reader that meets the page.</summary>
internal sealed class ReadRepair(
    UnitCalls units, ChainReplication chains, ProjectionHolder projections, ClientClock clock, ILogger logger)
{
    private const int MaxWaiting = 1024;

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly Queue<LogPosition> _waiting = new();
    private readonly HashSet<LogPosition> _scheduled = [];
    private bool _running;

    public void Schedule(LogPosition position)
    {
        lock (_gate)
        {
            if (_scheduled.Count >= MaxWaiting || !_scheduled.Add(position)) return;
            _waiting.Enqueue(position);
            if (_running) return;
            _running = true;
        }

        clock.Loops.Start(RunAsync);
    }

    public async ValueTask<Attempt<RepairOutcome>> RepairAsync(
        EpochView view, LogPosition position, CancellationToken cancellationToken)
    {
        var chain = view.Projection.ChainOf(position);
        var request = new ReadRequest(view.Epoch, [position], ReadDetail.Full);
        var answers = await Task.WhenAll(
            chain.FullUnits.Select(u => units.CallAsync(view, u, request, cancellationToken).AsTask()));
        int first = -1, last = -1, damaged = 0, missing = 0;
        for (var i = 0; i < answers.Length; i++)
        {
            if (!answers[i].IsOk) return answers[i].Status;
            var page = answers[i].Pages[0];
            switch (PageDecoder.Decode(page, ReadDetail.Full).State)
            {
                case PageState.Trimmed:
                    var status = await chains.PropagateTrimAsync(view, chain, page, cancellationToken);
                    return status == Status.Ok ? RepairOutcome.Sound : status;
                case PageState.Unwritten:
                    missing++;
                    break;
                case PageState.Corrupt:
                    damaged++;
                    break;
                default:
                    if (first < 0) first = i;
                    var good = answers[first].Pages[0];
                    if (!page.Bytes.Span.SequenceEqual(good.Bytes.Span)) return Diverged(position);
                    last = i;
                    break;
            }
        }

        // An entry that the tail never had was never acknowledged: its append reached the damaged replicas only.
        var tailHasNothing = answers[^1].Pages[0].State == PageState.Unwritten;
        if (first < 0) return damaged == 0 || tailHasNothing ? RepairOutcome.Undecided : Unrecoverable(position);
        if (missing + damaged == 0) return RepairOutcome.Sound;
        return await GiveBackAsync(view, chain, answers, answers[first].Pages[0], last, cancellationToken);
    }

    private async ValueTask<Attempt<RepairOutcome>> GiveBackAsync(EpochView view, Chain chain, ReadResponse[] answers,
        PageResult good, int last, CancellationToken cancellationToken)
    {
        for (var i = 0; i < answers.Length; i++)
        {
            var unit = chain.Replicas[i].Unit;
            var state = PageDecoder.Decode(answers[i].Pages[0], ReadDetail.Full).State;
            Status status;
            if (state == PageState.Corrupt)
            {
                var request = new RepairRequest(view.Epoch, good.Bytes);
                status = (await units.CallAsync(view, unit, request, cancellationToken)).Status;
            }
            else if (state == PageState.Unwritten && i < last)
            {
                // Chains are written in order, so this replica had it once.
                var request = new CompleteRequest(view.Epoch, good.Bytes);
                var response = await units.CallAsync(view, unit, request, cancellationToken);
                status = response.Status != Status.AlreadyWritten ? response.Status
                    : response.StoredOrigin == good.Origin ? Status.Ok : Status.Conflict;
            }
            else
            {
                continue;
            }

            if (status == Status.Conflict) return Diverged(good.Position);
            if (status is not (Status.Ok or Status.Trimmed)) return status;
            ClientTelemetry.Repaired.Add(1);
            ClientLog.Repaired(logger, good.Position.ToString(), unit.ToString(), state.ToString());
        }

        // Behind the last good copy the page may not have arrived yet.
        var completed = await chains.CompleteAsync(view, chain, last, good.Bytes, cancellationToken);
        return completed is Status.Ok or Status.Trimmed ? RepairOutcome.Repaired : completed;
    }

    private RepairOutcome Diverged(LogPosition position)
    {
        ClientLog.Diverged(logger, position.ToString());
        return RepairOutcome.Diverged;
    }

    private RepairOutcome Unrecoverable(LogPosition position)
    {
        ClientLog.Unrecoverable(logger, position.ToString());
        return RepairOutcome.Unrecoverable;
    }

    private async Task RunAsync()
    {
        await Task.Yield();
        while (TryNext(out var position))
        {
            try
            {
                var outcome = await RepairAsync(projections.Current, position, clock.Closed);
                if (!outcome.IsDone) ClientLog.NotRepaired(logger, position.ToString(), outcome.Status.ToString());
            }
            catch (CorfuException e)
            {
                ClientLog.NotRepaired(logger, position.ToString(), e.Message);
            }
            catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
            {
                // The client is closed.
            }

            lock (_gate) _scheduled.Remove(position);
        }
    }

    private bool TryNext(out LogPosition position)
    {
        lock (_gate)
        {
            if (_waiting.TryDequeue(out position)) return true;
            _running = false;
            return false;
        }
    }
}

internal enum RepairOutcome
{
    /// <summary>All full replicas hold the same good page, or the trim.</summary>
    Sound,

    /// <summary>All full replicas hold the same good page now.</summary>
    Repaired,

    Trimmed,

    /// <summary>No replica holds a value, or an append is under way.</summary>
    Undecided,

    /// <summary>Damaged at every replica that holds it.</summary>
    Unrecoverable,

    /// <summary>Good pages that differ: a broken invariant; left as it is.</summary>
    Diverged,
}
