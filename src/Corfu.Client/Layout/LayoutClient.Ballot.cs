using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client.Layout;

/// <summary>One register, brought to its decision.</summary>
public sealed partial class LayoutClient
{
    /// <summary>
    /// Paxos for one slot until it is decided. Without a value of its own it only finishes what others began: null when a majority
    /// promises, and has accepted nothing.
    /// </summary>
    private async Task<Projection?> RunBallotAsync(
        Epoch slot, ImmutableArray<NodeAddress> acceptors, Projection? own, CancellationToken cancellationToken)
    {
        if (await DecideAsync(Prepare(slot, acceptors, FirstRound, cancellationToken), own, cancellationToken) is not { } decision) return null;
        await PublishAsync(decision, cancellationToken);
        return decision.Value;
    }

    // The proposer is of this run alone: two runs of one client never share a ballot.
    private OpenBallot Prepare(Epoch slot, ImmutableArray<NodeAddress> acceptors, long round, CancellationToken cancellationToken)
    {
        var ballot = new Ballot(round, _entropy.NewGuid());
        return new OpenBallot(slot, acceptors, ballot, PromisesAsync(slot, acceptors, ballot, cancellationToken));
    }

    private Task<LayoutResponse?[]> PromisesAsync(Epoch slot, ImmutableArray<NodeAddress> acceptors, Ballot ballot, CancellationToken cancellationToken) =>
        AskAsync(acceptors, _ => new PrepareRequest(slot, ballot), IsSettled(HasMajority), cancellationToken);

    private async Task<LayoutDecision?> DecideAsync(OpenBallot open, Projection? own, CancellationToken cancellationToken)
    {
        var (slot, acceptors, ballot, promising) = open;
        var proposer = ballot.Proposer;
        var round = ballot.Round;
        for (var attempt = 1; ; attempt++)
        {
            var promises = await promising;
            if (FindDecision(slot, promises) is { } known) return new LayoutDecision(known, acceptors);
            round = Math.Max(round, HighestRound(promises)) + 1;
            if (HasMajority(promises))
            {
                var value = HighestAccepted(promises) ?? own;
                if (value is null) return null;
                var votes = await AskAsync(acceptors, _ => new AcceptRequest(ballot, value), IsSettled(HasMajority), cancellationToken);
                if (FindDecision(slot, votes) is { } other) return new LayoutDecision(other, acceptors);
                if (HasMajority(votes)) return new LayoutDecision(value, acceptors);
                round = Math.Max(round, HighestRound(votes) + 1);
            }

            await BackOffAsync(attempt, $"{slot} is not decided: no majority of its acceptors ({Names(acceptors)}) answers, or others outbid.", cancellationToken);
            ballot = new Ballot(round, proposer);
            promising = PromisesAsync(slot, acceptors, ballot, cancellationToken);
        }
    }

    /// <summary>A decision that an acceptor knows, or the newer projection that it answers with because the slot is pruned.</summary>
    private static Projection? FindDecision(Epoch slot, LayoutResponse?[] answers)
    {
        foreach (var answer in answers)
        {
            if (answer?.Slot is { IsDecided: true } state && state.Slot == slot) return state.Value;
            if (answer is { Status: Status.Superseded, Latest: { } latest } && latest.Epoch >= slot) return latest;
        }

        return null;
    }

    /// <summary>The value that a majority has accepted under one ballot: decided, though no acceptor may know it yet.</summary>
    private static Projection? FindChosen(Epoch slot, LayoutResponse?[] answers)
    {
        foreach (var answer in answers)
        {
            if (answer?.Slot is not { Value: not null } state || state.Slot != slot) continue;
            var votes = answers.Count(a => a?.Slot is { Value: not null } other && other.Slot == slot && other.Accepted == state.Accepted);
            if (votes > answers.Length / 2) return state.Value;
        }

        return null;
    }

    /// <summary>The value that must be proposed: the one accepted under the highest ballot, if any was.</summary>
    private static Projection? HighestAccepted(LayoutResponse?[] promises)
    {
        SlotState? highest = null;
        foreach (var answer in promises)
        {
            if (answer is { IsOk: true, Slot: { Value: not null } state } && (highest is null || state.Accepted > highest.Accepted)) highest = state;
        }

        return highest?.Value;
    }

    private static long HighestRound(LayoutResponse?[] answers) => answers.Max(a => a?.Slot?.Promised.Round ?? 0);

    /// <summary>
    /// Tells the decision to those who decided it and to those who decide next. That the latter hold it before the former retire is
    /// <see cref="HandOverAsync"/>'s promise; here a majority of them is waited for once, and a failure changes nothing about the decision.
    /// </summary>
    public async Task PublishAsync(LayoutDecision decision, CancellationToken cancellationToken = default)
    {
        var (decided, deciders) = decision;
        foreach (var decider in deciders)
        {
            if (!decided.Acceptors.Contains(decider)) Tell(decider, decided);
        }

        await AskAsync(decided.Acceptors, _ => new DecidedRequest(decided), HasMajority, cancellationToken);
    }
}
