namespace Corfu.Detection;

/// <summary>Whether enough other agents share one agent's verdict on a node to act on it.</summary>
public static class SecondObserver
{
    /// <param name="others">Agents that could be asked: in other processes, and not certainly gone themselves.</param>
    public static bool Agrees(NodeVerdict mine, IReadOnlyCollection<SuspicionResponse> answers, int others)
    {
        // With no other agent, only what the node or its machine says itself is enough.
        if (others == 0) return mine.IsCertain;
        var (agree, contradict) = Count(mine, answers);
        return agree >= 1 && agree >= contradict;
    }

    /// <summary>Whether the agents that have not answered yet cannot change an agreement.</summary>
    public static bool AgreesWhateverElse(NodeVerdict mine, IReadOnlyCollection<SuspicionResponse> answers, int pending)
    {
        var (agree, contradict) = Count(mine, answers);
        return agree >= 1 && agree >= contradict + pending;
    }

    /// <summary>Silent for this agent and alive for another: the way is broken, not the node.</summary>
    public static bool IsPartition(NodeVerdict mine, IReadOnlyCollection<SuspicionResponse> answers) =>
        mine.Health == NodeHealth.Silent && answers.Any(answer => answer.Answers);

    private static (int Agree, int Contradict) Count(NodeVerdict mine, IReadOnlyCollection<SuspicionResponse> answers)
    {
        var agree = answers.Count(answer => IsSame(mine.Health, answer));
        var contradict = answers.Count(
            answer => answer.Answers && answer.Health is not NodeHealth.Failed && !IsSame(mine.Health, answer));
        return (agree, contradict);
    }

    private static bool IsSame(NodeHealth mine, SuspicionResponse answer) => mine switch
    {
        NodeHealth.Full or NodeHealth.Slow => answer.Health == mine,
        _ => answer.Health is NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Silent or NodeHealth.Failed,
    };
}
