namespace Corfu.Client.Layout;

/// <summary>Rounds of requests to a set of acceptors, and the waits between them.</summary>
public sealed partial class LayoutClient
{
    /// <summary>Asks all and waits until enough have answered, all have, or the round's time is over. Answers stand at
    /// their acceptor's index; null: none, or one that speaks of the node and not of the register.</summary>
    /// <exception cref="CorfuDeniedException">A majority says that this side has no right to ask.</exception>
    private async Task<LayoutResponse?[]> AskAsync(ImmutableArray<NodeAddress> acceptors, LayoutRequest request,
        Func<LayoutResponse?[], bool> isEnough, CancellationToken cancellationToken)
    {
        var answers = new LayoutResponse?[acceptors.Length];
        var timeout = new CancellationTokenSource(_options.RoundTimeout, time);
        var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var calls = acceptors.Select(a => AskOneAsync(a, request, either.Token)).ToList();
            var pending = calls.ToList();
            var denied = 0;
            while (pending.Count > 0 && !isEnough(answers))
            {
                var ended = await Task.WhenAny(pending);
                pending.Remove(ended);
                var answer = await ended;
                if (answer is not { Status: Status.Denied }) answers[calls.IndexOf(ended)] = answer;
                else if (++denied > acceptors.Length / 2)
                    throw CorfuStatusException.Create(Status.Denied, $"{request.Opcode} for {request.Slot}");
            }

            cancellationToken.ThrowIfCancellationRequested();
            return answers;
        }
        finally
        {
            // The other acceptors were sent the request and may act on it; only their answers are not waited for.
            Waiting.CancelLaterAsync(either, timeout).Abandon();
        }
    }

    private async Task<LayoutResponse?> AskOneAsync(
        NodeAddress acceptor, LayoutRequest request, CancellationToken cancellationToken)
    {
        try
        {
            var answer = await transport.CallAsync(acceptor, request, cancellationToken);
            return answer.Status is Status.Ok or Status.Outbid or Status.Superseded or Status.Conflict or Status.Denied
                ? answer
                : null;
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return null;
        }
    }

    /// <summary>Sends a message and waits for no answer: if the message is lost, the next reader repairs
    /// that.</summary>
    private async Task TellAsync(NodeAddress acceptor, Projection decided)
    {
        using var timeout = new CancellationTokenSource(_options.RoundTimeout, time);
        await AskOneAsync(acceptor, new DecidedRequest(decided), timeout.Token);
    }

    private static bool HasMajority(LayoutResponse?[] answers)
    {
        if (Planted.Is("one-acceptor-is-enough")) return answers.Any(a => a is { IsOk: true });
        return answers.Count(a => a is { IsOk: true } or { Status: Status.Superseded }) > answers.Length / 2;
    }

    /// <summary>A decision or a refusal ends a round at once: no other answer can change what follows.</summary>
    private static bool IsSettled(LayoutResponse?[] answers) =>
        HasMajority(answers) || answers.Any(
            a => a is { Slot.IsDecided: true } or { Status: Status.Outbid or Status.Superseded or Status.Conflict });

    private async Task BackOffAsync(int attempt, string failure, CancellationToken cancellationToken)
    {
        if (attempt >= _options.MaxAttempts)
            throw new LayoutUnavailableException($"{failure} Gave up after {attempt} attempts.");
        var pause = BackOff.After(attempt, _options.FirstBackOff, _options.MaxBackOff, entropy);
        await Task.Delay(pause, time, cancellationToken);
    }
}
