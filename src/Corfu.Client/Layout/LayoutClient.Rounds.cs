using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client.Layout;

/// <summary>Rounds of requests to a set of acceptors, and the waits between them.</summary>
public sealed partial class LayoutClient
{
    /// <summary>
    /// Asks all and waits until enough have answered, all have, or the round's time is over. Answers stand at their
    /// acceptor's index; null: none, or one that speaks of the node and not of the register.
    /// </summary>
    private async Task<LayoutResponse?[]> AskAsync(
        ImmutableArray<NodeAddress> acceptors,
        Func<NodeAddress, LayoutRequest> request,
        Func<LayoutResponse?[], bool> enough,
        CancellationToken cancellationToken)
    {
        var answers = new LayoutResponse?[acceptors.Length];
        var timeout = new CancellationTokenSource(_options.RoundTimeout, _time);
        var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var pending = new List<Task<(int Index, LayoutResponse? Answer)>>(acceptors.Length);
            for (var i = 0; i < acceptors.Length; i++)
                pending.Add(AskOneAsync(i, acceptors[i], request(acceptors[i]), either.Token));
            while (pending.Count > 0 && !enough(answers))
            {
                var done = await Task.WhenAny(pending);
                pending.Remove(done);
                var (index, answer) = await done;
                answers[index] = answer;
            }

            cancellationToken.ThrowIfCancellationRequested();
            return answers;
        }
        finally
        {
            LeaveAsync(timeout, either).Abandon();
        }
    }

    /// <summary>
    /// The stragglers were sent their request and may act on it; only their answers are not waited for. Each of these
    /// calls ends with an exception, and whoever has what it asked for need not wait for that either.
    /// </summary>
    private static async Task LeaveAsync(CancellationTokenSource timeout, CancellationTokenSource either)
    {
        await Task.Yield();
        either.Cancel();
        either.Dispose();
        timeout.Dispose();
    }

    private async Task<(int Index, LayoutResponse? Answer)> AskOneAsync(
        int index, NodeAddress acceptor, LayoutRequest request, CancellationToken cancellationToken)
    {
        try
        {
            var answer = await _transport.CallAsync(acceptor, request, cancellationToken);
            return (index, IsTheRegisters(answer.Status) ? answer : null);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return (index, null);
        }
    }

    private static bool IsTheRegisters(Status status) =>
        status is Status.Ok or Status.Outbid or Status.Superseded or Status.Conflict;

    /// <summary>One message that nobody waits for: what is lost is repaired by the next reader.</summary>
    private void Tell(NodeAddress acceptor, Projection decided) => _ = TellAsync(acceptor, decided);

    private async Task TellAsync(NodeAddress acceptor, Projection decided)
    {
        using var timeout = new CancellationTokenSource(_options.RoundTimeout, _time);
        await AskOneAsync(0, acceptor, new DecidedRequest(decided), timeout.Token);
    }

    private static bool HasMajority(LayoutResponse?[] answers)
    {
#if PLANTED
        if (Planted.Is("one-acceptor-is-enough")) return answers.Any(a => a is { IsOk: true });
#endif
        return answers.Count(a => a is { IsOk: true } or { Status: Status.Superseded }) > answers.Length / 2;
    }

    /// <summary>
    /// A decision or a refusal ends a round at once: waiting for the others cannot change what follows.
    /// </summary>
    private static Func<LayoutResponse?[], bool> IsSettled(Func<LayoutResponse?[], bool> otherwise) => answers =>
        answers.Any(
            a =>
                a is { Slot.IsDecided: true }
                    or { Status: Status.Outbid or Status.Superseded or Status.Conflict }) || otherwise(answers);

    private async Task BackOffAsync(int attempt, string failure, CancellationToken cancellationToken)
    {
        if (attempt >= _options.MaxAttempts)
            throw new LayoutUnavailableException($"{failure} Gave up after {attempt} attempts.");
        await Task.Delay(
            RetryBudget.BackOff(attempt, _options.FirstBackOff, _options.MaxBackOff, _entropy), _time,
            cancellationToken);
    }
}
