using Craq.Coordination;

namespace Craq.Transactions;

/// <summary>The outcomes of transactions in the log, and what they lead to at the chains (C15).</summary>
/// <remarks>Invariants: a part ends by the first decision in the log, or by its own chain's no. A decision is dropped
/// when all parts have ended: from then on the chains' records answer for the transaction, and no part holds a
/// lock.</remarks>
internal sealed class Decisions(
    IChainDirectory directory, PartCalls calls, TimeProvider time, CraqNodeOptions options, CancellationToken stopping)
{
    /// <summary>Decides, or learns how it was decided.</summary>
    /// <returns>None: the log does not answer, and the outcome is unknown.</returns>
    public async Task<TransactionOutcome> DecideAsync(Guid transaction, TransactionDecision wanted)
    {
        try
        {
            using var limit = Limit(options.CallLimit);
            return await directory.DecideAsync(transaction, wanted, limit.Token);
        }
        catch (Exception error) when (error is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            return TransactionOutcome.None;
        }
    }

    /// <summary>Tells parts the outcome.</summary>
    /// <returns>The answers of the parts, in order. What a part says itself counts: it may have ended before.</returns>
    public async Task<PartResponse[]> SettleAsync(
        Guid transaction, IEnumerable<PartId> parts, TransactionOutcome outcome)
    {
        using var limit = Limit(options.SettleLimit);
        var isCommitted = outcome == TransactionOutcome.Committed;
        return await Task.WhenAll(parts.Select(part => calls.AskAsync(part.Chain,
            epoch => new SettlePartRequest(epoch, part.Chain, transaction, part.NotBefore, isCommitted), limit.Token)));
    }

    /// <summary>Drops the decision if all parts have ended. A failure leaves an entry in the log, and nothing
    /// else.</summary>
    public async Task DropAsync(Guid transaction, IEnumerable<PartResponse> parts)
    {
        // A part that is forgotten has ended, or can never begin.
        if (!parts.All(part => part.IsOk || part.Status == CraqStatus.Forgotten)) return;
        try
        {
            using var limit = Limit(options.CallLimit);
            await directory.DropDecisionAsync(transaction, limit.Token);
        }
        catch (Exception error) when (error is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // The entry stays.
        }
    }

    public TimeLimit Limit(TimeSpan after) => new(after, time, stopping);
}
