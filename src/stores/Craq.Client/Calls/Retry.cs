namespace Craq.Calls;

/// <summary>The client's only way to try again.</summary>
/// <remarks>
/// 1. A value, or a status that no further attempt can change, ends the operation.
/// 2. A newer config, from an answer or meanwhile: the next attempt follows it at once. Epochs rise, so this ends.
/// 3. No answer, or another status: the next member of the round, where the operation has one.
/// 4. After a round: other nodes are asked for a newer config where the answers hint at one, then a pause.
/// 5. After <see cref="CraqClientOptions.OperationTimeout"/>, or when the client is closed, it is given up.
/// </remarks>
internal sealed class Retry(ChainMap map, CallClock clock, IEntropy entropy, CraqClientOptions options)
{
    /// <exception cref="CorfuException">As <see cref="ChainCall{T}.GiveUp"/>, or a refusal for good.</exception>
    public async ValueTask<T> RunAsync<T>(ChainCall<T> call, CancellationToken cancellationToken)
    {
        var round = new Round(call.Chain);
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (clock.Closed.IsCancellationRequested)
                return call.GiveUp(new CraqUnavailableException($"{call.What}: the client was closed.", Status.Ok));
            var route = call.Chain.Route;
            var member = route is null ? -1 : call.Next(route);
            if (member >= 0)
            {
                var link = route!.Members[member];
                try
                {
                    // 1.
                    var attempt = await call.TryAsync(route, member, cancellationToken);
                    link.Answered();
                    if (attempt.IsDone) return attempt.Value;
                    if (IsFinal(attempt.Status))
                        return call.GiveUp(CorfuStatusException.Create(attempt.Status, call.What));
                    map.Adopt(call.Chain, attempt.View);
                    round.Refused(link, attempt.Status);
                }
                catch (TransportException e)
                {
                    CraqClientTelemetry.Silent.Add(1);
                    link.Silent(options.AvoidTime);
                    round.Silent(e);
                }

                // 2., 3.
                if (call.Chain.Route != route) call.BeginRound();
                continue;
            }

            // 4., 5.
            round.Began ??= clock.GetTimestamp();
            if (clock.GetElapsedTime(round.Began.Value) >= options.OperationTimeout)
                return call.GiveUp(round.Failure(call.What, options));
            await EndAsync(call, round, route, cancellationToken);
            call.BeginRound();
        }
    }

    private async ValueTask EndAsync<T>(
        ChainCall<T> call, Round round, ChainRoute? route, CancellationToken cancellationToken)
    {
        if (route is null || round.Asks)
        {
            var outcome = await map.LearnAsync(call.Chain, cancellationToken);
            if (outcome == LearnOutcome.Newer || call.Chain.Route != route) return;
            if (route is null && outcome == LearnOutcome.Unknown
                && clock.GetElapsedTime(round.Began!.Value) >= options.UnknownChainTimeout)
                throw new ChainNotFoundException($"No node knows the chain '{call.Chain.Name}'. "
                    + "'corfu craq chain list' lists the chains, 'corfu craq chain create' makes one.");
            if (route is null) round.NoRoute(outcome);
        }

        CraqClientTelemetry.Retries.Add(1);
        await clock.DelayAsync(BackOff.After(++round.Pauses, options.RetryDelay, options.MaxRetryDelay, entropy),
            cancellationToken);
        round.Asks = false;
    }

    private static bool IsFinal(Status status) => status is
        Status.BadRequest or Status.TooLarge or Status.Unsupported or Status.Denied;

    /// <summary>The attempts of an operation since they began to fail.</summary>
    private sealed class Round(ChainEntry chain)
    {
        private string _reason = "";
        private Status _status;
        private Exception? _cause;

        /// <summary>A time stamp; null: no round has failed.</summary>
        public long? Began { get; set; }

        public int Pauses { get; set; }

        /// <summary>Whether other nodes may know a newer config than those asked.</summary>
        public bool Asks { get; set; }

        public void Refused(NodeLink link, Status status)
        {
            (_reason, _status, _cause) = ($"{link.Address} says {Name(status)}", status, null);
            Asks |= status is Status.Sealed or Status.NotInstalled or Status.WrongNode or Status.Failed
                or CraqStatus.WrongRole or CraqStatus.NotFound or CraqStatus.Unconfirmed;
        }

        public void Silent(TransportException e)
        {
            (_reason, _status, _cause) = (e.Message.TrimEnd('.'), Status.Ok, e);
            Asks = true;
        }

        public void NoRoute(LearnOutcome outcome) => (_reason, _status, _cause) = (outcome == LearnOutcome.Silent
            ? "no node answers"
            : $"no node knows the chain '{chain.Name}'", Status.Ok, null);

        public CraqUnavailableException Failure(string what, CraqClientOptions options) => new(
            $"{what}: given up after {options.OperationTimeout.TotalSeconds:0.#} s; {_reason}. "
            + "'corfu craq status' shows the nodes and the chains.", _status, _cause);

        private static string Name(Status status) => status switch
        {
            CraqStatus.WrongRole => nameof(CraqStatus.WrongRole),
            CraqStatus.NotOpen => nameof(CraqStatus.NotOpen),
            CraqStatus.Unconfirmed => nameof(CraqStatus.Unconfirmed),
            CraqStatus.Behind => nameof(CraqStatus.Behind),
            CraqStatus.Stale => nameof(CraqStatus.Stale),
            CraqStatus.Locked => nameof(CraqStatus.Locked),
            CraqStatus.Forgotten => nameof(CraqStatus.Forgotten),
            CraqStatus.NotFound => nameof(CraqStatus.NotFound),
            _ => status.ToString(),
        };
    }
}
