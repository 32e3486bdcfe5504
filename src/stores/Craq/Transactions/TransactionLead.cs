using Craq.Chains;
using Craq.Coordination;

namespace Craq.Transactions;

/// <summary>Leads transactions over several chains, at the head of their first part, and ends those whose lead is
/// silent (CRAQ 4.1.3).</summary>
/// <remarks>
/// 1. The heads of all parts evaluate, lock and vote. A vote is a committed record of the part's chain. 2. All yes: the
/// log decides Commit. A part that has ended says the outcome itself. Else the log decides Abort. 3. All heads are told
/// what the log says, and only that (C15). 4. The client hears Committed when all parts are committed; then the
/// decision goes. A lead has no state: every step may be made again by another one.
/// </remarks>
internal sealed class TransactionLead
{
    private readonly CraqHandler _handler;
    private readonly CraqNodeOptions _options;
    private readonly PartCalls _calls;
    private readonly Decisions _decisions;

    // Transactions that this node is ending. Guarded by itself.
    private readonly HashSet<Guid> _resolving = [];

    /// <summary>Takes the handler's transactions. Before the handler is registered.</summary>
    public TransactionLead(CraqHandler handler, IChainDirectory directory, ITransport transport, TimeProvider time,
        CraqNodeOptions options)
    {
        (_handler, _options) = (handler, options);
        _calls = new PartCalls(handler, transport, time, options);
        _decisions = new Decisions(directory, _calls, time, options, handler.Stopping);
        handler.Route(CraqOpcode.Transact, (request, reply) => Handle((TransactRequest)request, reply));
        handler.Resolve = held => _ = ResolveAsync(held);
        Sweep = new DecisionSweep(handler, directory, _decisions);
    }

    public DecisionSweep Sweep { get; }

    private void Handle(TransactRequest request, ReplyTo reply)
    {
        var view = _handler.FindView(request.Parts[0].Chain);
        if (view?.Config.Head.Node != _handler.Id)
            reply.Send(new TransactResponse(
                view is null ? CraqStatus.NotFound : CraqStatus.WrongRole, view?.Config.Epoch ?? Epoch.None)
            {
                View = view,
            });
        else if (!_handler.TryWait()) reply.Send(request.Fail(Status.Overloaded, view.Config.Epoch));
        else _ = LeadAsync(request with { Parts = [.. request.Parts.Select(part => part.ToOwned())] }, reply);
    }

    private async Task LeadAsync(TransactRequest request, ReplyTo reply)
    {
        var response = new TransactResponse(CraqStatus.Unconfirmed, request.Epoch);
        var isDecided = true;
        PartResponse[] answers;
        try
        {
            var votes = await VoteAsync(request);
            // A part that has ended did so by the outcome, or its chain refused it for ever: no decision is needed.
            var ended = votes.FirstOrDefault(vote => vote.State is PartState.Committed or PartState.Aborted);
            var outcome = ended is null
                ? await _decisions.DecideAsync(request.Id, new TransactionDecision(
                    votes.All(vote => vote.State == PartState.Prepared)
                        ? TransactionOutcome.Committed
                        : TransactionOutcome.Aborted, [.. request.Parts.Select(part => part.Id)]))
                : ended.State == PartState.Committed ? TransactionOutcome.Committed : TransactionOutcome.Aborted;
            if (outcome == TransactionOutcome.None) return;
            isDecided = ended is null || ended.Reason == Status.Ok;
            answers = await _decisions.SettleAsync(request.Id, request.Parts.Select(part => part.Id), outcome);
            response = Answer(request, votes, answers);
        }
        finally
        {
            _handler.EndWait();
            reply.Send(response);
        }

        if (isDecided) await _decisions.DropAsync(request.Id, answers);
    }

    // The first no ends the waiting for the other votes.
    private async Task<PartResponse[]> VoteAsync(TransactRequest request)
    {
        using var limit = _decisions.Limit(_options.VoteLimit);
        ImmutableArray<PartId> parts = [.. request.Parts.Select(part => part.Id)];
        return await Task.WhenAll(request.Parts.Select(async part =>
        {
            var vote = await _calls.AskAsync(
                part.Chain, epoch => new PreparePartRequest(epoch, request.Id, parts, part), limit.Token);
            if (vote.State != PartState.Prepared) limit.End();
            return vote;
        }));
    }

    // The answers of the chains count, whatever this lead has heard from the log: the decision of a transaction that
    // had ended before is gone, and another one in its place changes nothing.
    private static TransactResponse Answer(TransactRequest request, PartResponse[] votes, PartResponse[] answers)
    {
        if (answers.All(answer => answer.State == PartState.Committed))
        {
            return new TransactResponse(Status.Ok, request.Epoch)
            {
                IsCommitted = true,
                Parts = [.. answers.Select(answer => new CommittedPart(answer.Version, answer.Mark, answer.Result))],
            };
        }

        if (answers.All(answer => answer.State != PartState.Aborted))
        {
            var isForgotten = votes.Any(vote => vote.Status == CraqStatus.Forgotten)
                && answers.All(answer => answer.Status == CraqStatus.Forgotten);
            return new TransactResponse(
                isForgotten ? CraqStatus.Forgotten : CraqStatus.Unconfirmed, request.Epoch);
        }

        var part = Refusing(votes, answers);
        var refused = votes[part].IsOk && votes[part].State == PartState.Aborted ? votes[part] : answers[part];
        return new TransactResponse(Status.Ok, request.Epoch)
        {
            Part = part,
            Reason = refused.Reason != Status.Ok ? refused.Reason
                : votes[part].IsOk ? CraqStatus.Unconfirmed : votes[part].Status,
            Index = refused.Index,
            Found = refused.Found,
        };
    }

    // The first part whose chain refused; else the first one that gave no vote; else the first one that has ended.
    private static int Refusing(PartResponse[] votes, PartResponse[] answers)
    {
        var part = Array.FindIndex(answers, answer => answer.Reason != Status.Ok);
        if (part < 0) part = Array.FindIndex(votes, vote => !vote.IsOk && vote.Status != CraqStatus.Unconfirmed);
        if (part < 0) part = Array.FindIndex(votes, vote => !vote.IsOk);
        return Math.Max(part, 0);
    }

    // The part ends alone, whatever becomes of the others; then this head does what the lead has left.
    private async Task ResolveAsync(ExpiredLock held)
    {
        lock (_resolving)
        {
            if (!_resolving.Add(held.Transaction)) return;
        }

        try
        {
            var outcome = Planted.Is("decides-by-timeout")
                ? TransactionOutcome.Aborted
                : await _decisions.DecideAsync(held.Transaction,
                    new TransactionDecision(TransactionOutcome.Aborted, held.Parts));
            if (outcome == TransactionOutcome.None) return;
            var own = held.Parts.Where(part => part.Chain == held.Chain);
            var ended = await _decisions.SettleAsync(held.Transaction, own, outcome);
            var others = await _decisions.SettleAsync(
                held.Transaction, held.Parts.Where(part => part.Chain != held.Chain), outcome);
            await _decisions.DropAsync(held.Transaction, [.. ended, .. others]);
        }
        finally
        {
            lock (_resolving) _resolving.Remove(held.Transaction);
        }
    }
}
