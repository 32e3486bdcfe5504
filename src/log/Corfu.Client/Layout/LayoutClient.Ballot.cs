namespace Corfu.Client.Layout;

/// <summary>Brings one register to its decision.</summary>
public sealed partial class LayoutClient
{
    /// <summary>Paxos for one slot until it is decided, and its acceptors told. Without a value of its own it only
    /// finishes a ballot: null when a majority promises, and has accepted nothing.</summary>
    private async Task<Projection?> RunBallotAsync(
        Epoch slot, ImmutableArray<NodeAddress> acceptors, Projection? own, CancellationToken cancellationToken)
    {
        // A proposer for each run: two runs of one client never share a ballot.
        var proposer = entropy.NewGuid();
        long round = 1;
        for (var attempt = 1; ; attempt++)
        {
            var ballot = new Ballot(round, proposer);
            var promises = await AskAsync(acceptors, new PrepareRequest(slot, ballot), IsSettled, cancellationToken);
            if (FindDecision(slot, promises) is { } known)
                return await PublishAsync(known, acceptors, cancellationToken);
            round = Math.Max(round, HighestRound(promises)) + 1;
            if (HasMajority(promises))
            {
                var value = HighestAccepted(promises) ?? own;
                if (value is null) return null;
                var votes = await AskAsync(acceptors, new AcceptRequest(ballot, value), IsSettled, cancellationToken);
                var decided = FindDecision(slot, votes) ?? (HasMajority(votes) ? value : null);
                if (decided is not null) return await PublishAsync(decided, acceptors, cancellationToken);
                round = Math.Max(round, HighestRound(votes) + 1);
            }

            await BackOffAsync(attempt,
                $"{slot} is not decided: no majority of its acceptors ({Names(acceptors)}) answers, or others outbid.",
                cancellationToken);
        }
    }

    /// <summary>A decision that an acceptor knows, or a newer projection where the slot is pruned.</summary>
    private static Projection? FindDecision(Epoch slot, LayoutResponse?[] answers)
    {
        foreach (var answer in answers)
        {
            if (answer?.Slot is { IsDecided: true } state && state.Slot == slot) return state.Value;
            if (answer is { Status: Status.Superseded, Latest: { } latest } && latest.Epoch >= slot) return latest;
        }

        return null;
    }

    /// <summary>The value that must be proposed: the one accepted under the highest ballot, if any was.</summary>
    private static Projection? HighestAccepted(LayoutResponse?[] promises) =>
        promises.Where(a => a is { IsOk: true, Slot.Value: not null }).MaxBy(a => a!.Slot!.Accepted)?.Slot!.Value;

    private static long HighestRound(LayoutResponse?[] answers) => answers.Max(a => a?.Slot?.Promised.Round ?? 0);

    /// <summary>Tells the decision to the acceptors that decided it and to those that decide next. A single round
    /// suffices: a failure changes nothing about the decision. Only <see cref="HandOverAsync"/> lets the former
    /// acceptors retire.</summary>
    private async Task<Projection> PublishAsync(
        Projection decided, ImmutableArray<NodeAddress> deciders, CancellationToken cancellationToken)
    {
        foreach (var decider in deciders.Except(decided.Acceptors)) _ = TellAsync(decider, decided);
        await AskAsync(decided.Acceptors, new DecidedRequest(decided), HasMajority, cancellationToken);
        return decided;
    }
}
