using System.Collections.Immutable;
using Corfu.ModelCheck.Nodes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>
/// The clients' side of the layout (docs/protocol.md, Layout; R12), as <c>LayoutClient</c> does it: read the newest,
/// finishing what others began, or bring one slot to its decision.
/// </summary>
public sealed record LayoutOperation(char Process, ImmutableArray<NodeAddress> Acceptors, LayoutPhase Phase, Epoch Slot,
    Projection? Own, Flaw Flaw)
{
    private const int MaxRounds = 3;

    public int Run { get; init; }

    public long Round { get; init; } = 1;

    public Projection? Value { get; init; }

    public ImmutableArray<LayoutResponse?> Answers { get; init; } = [.. new LayoutResponse?[Acceptors.Length]];

    public string Key =>
        $"{Phase} {Slot} run {Run} round {Round} own {Text(Own)} value {Text(Value)} "
        + $"[{string.Join("; ", Answers.Select(a => a is null ? "" : Names.Of(a)))}]";

    public ImmutableArray<int> Open => [.. Enumerable.Range(0, Answers.Length).Where(i => Answers[i] is null)];

    public Request Request => Phase switch
    {
        LayoutPhase.Latest => new LatestRequest(Epoch.None),
        LayoutPhase.Prepare => new PrepareRequest(Slot, Ballot),
        LayoutPhase.Accept => new AcceptRequest(Ballot, Value!),
        _ => new DecidedRequest(Value!),
    };

    private Ballot Ballot => new(Round, Names.Proposer(Process, Run));

    /// <summary>The next state, or the result.</summary>
    public LayoutProgress Take(int acceptor, LayoutResponse response)
    {
        var with = this with { Answers = Answers.SetItem(acceptor, response) };
        return Phase switch
        {
            LayoutPhase.Latest => with.AfterLatest(),
            LayoutPhase.Prepare => with.AfterPrepare(),
            LayoutPhase.Accept => with.AfterAccept(),
            _ =>
                HasMajority(with.Answers)
                    ? new LayoutProgress(null, true, Value, null)
                    : new LayoutProgress(with, false, null, null),
        };
    }

    private LayoutProgress AfterLatest()
    {
        if (!HasMajority(Answers)) return new LayoutProgress(this, false, null, null);
        Projection? newest = null;
        foreach (var answer in Answers)
        {
            if (answer?.Latest is { } latest && (newest is null || latest.Epoch > newest.Epoch)) newest = latest;
        }

        var next = newest!.Epoch.Next;
        if (!Answers.Any(
            a => a?.Slot is { } slot && (slot.Slot > next || (slot.Slot == next && slot.Value is not null))))
            return new LayoutProgress(null, true, newest, null);
        foreach (var answer in Answers)
        {
            if (answer?.Slot is not { Value: not null } state || state.Slot != next) continue;
            var votes =
                Answers.Count(
                    a => a?.Slot is { Value: not null } other && other.Slot == next
                        && other.Accepted == state.Accepted);
            if (IsEnough(votes)) return Publish(state.Value);
        }

        return new LayoutProgress(Restart(LayoutPhase.Prepare) with { Slot = next, Own = null }, false, null, null);
    }

    private LayoutProgress AfterPrepare()
    {
        if (FindDecision() is { } known) return Publish(known);
        if (HasMajority(Answers))
        {
            var value = (Flaw == Flaw.OwnValueFirst ? Own : null) ?? HighestAccepted() ?? Own;
            if (value is null) return new LayoutProgress(null, true, null, null);
            return new LayoutProgress(Restart(LayoutPhase.Accept) with { Value = value }, false, null, null);
        }

        return Answers.Any(a => a is { Status: Status.Outbid })
            ? Outbid()
            : new LayoutProgress(this, false, null, null);
    }

    private LayoutProgress AfterAccept()
    {
        if (FindDecision() is { } known) return Publish(known);
        if (HasMajority(Answers)) return Publish(Value!);
        return Answers.Any(a => a is { Status: Status.Outbid })
            ? Outbid()
            : new LayoutProgress(this, false, null, null);
    }

    private LayoutProgress Outbid()
    {
        var round = Answers.Max(a => a?.Slot?.Promised.Round ?? 0) + 1;
        return round > MaxRounds
            ? new LayoutProgress(null, true, null, null)
            : new LayoutProgress(Restart(LayoutPhase.Prepare) with { Round = Math.Max(round, Round + 1) }, false, null,
                null);
    }

    private LayoutProgress Publish(Projection decided) =>
        new(Restart(LayoutPhase.Publish) with { Value = decided, Own = null, Round = 0 }, false, null, decided);

    private LayoutOperation Restart(LayoutPhase phase) =>
        this with { Phase = phase, Value = null, Answers = [.. new LayoutResponse?[Acceptors.Length]] };

    private Projection? FindDecision() =>
        Answers.FirstOrDefault(a => a?.Slot is { IsDecided: true } state && state.Slot == Slot)?.Slot!.Value;

    private Projection? HighestAccepted()
    {
        SlotState? highest = null;
        foreach (var answer in Answers)
        {
            if (answer is { IsOk: true, Slot: { Value: not null } state }
                && (highest is null || state.Accepted > highest.Accepted)) highest = state;
        }

        return highest?.Value;
    }

    private bool HasMajority(ImmutableArray<LayoutResponse?> answers) =>
        IsEnough(answers.Count(a => a is { IsOk: true }));

    private bool IsEnough(int votes) => Flaw == Flaw.OneAcceptorIsEnough ? votes > 0 : votes > Acceptors.Length / 2;

    private static string Text(Projection? projection) => projection is null ? "-" : Names.Of(projection);
}
