using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>Whether what one agent believes of a node is shared by enough others to act on it.</summary>
internal static class SecondObserver
{
    /// <param name="answers">Of the agents that answered in time.</param>
    /// <param name="others">Agents that could be asked: not on the node's own process, and not certainly gone
    /// themselves.</param>
    public static bool Agrees(NodeVerdict mine, IReadOnlyCollection<SuspicionResponse> answers, int others)
    {
        // Nobody is left who could be asked: only what the node or its machine says itself is enough then.
        if (others == 0) return mine.IsCertain;
        var (agree, contradict) = Count(mine, answers);
        return agree >= 1 && agree >= contradict;
    }

    /// <summary>Whether that is settled though some have not answered yet.</summary>
    public static bool AgreesWhateverElse(NodeVerdict mine, IReadOnlyCollection<SuspicionResponse> answers, int pending)
    {
        var (agree, contradict) = Count(mine, answers);
        return agree >= 1 && agree >= contradict + pending;
    }

    /// <summary>Silent towards us, and alive towards somebody: the way is broken, not the node.</summary>
    public static bool IsPartition(NodeVerdict mine, IReadOnlyCollection<SuspicionResponse> answers) =>
        mine.Health == NodeHealth.Silent && answers.Any(answer => answer.Answers);

    private static (int Agree, int Contradict) Count(NodeVerdict mine,
        IReadOnlyCollection<SuspicionResponse> answers) => (
        answers.Count(answer => IsSame(mine.Health, answer)),
        answers.Count(
            answer => answer.Answers && answer.Health is not NodeHealth.Failed && !IsSame(mine.Health, answer)));

    private static bool IsSame(NodeHealth mine, SuspicionResponse answer) => mine switch
    {
        NodeHealth.Full or NodeHealth.Slow => answer.Health == mine,
        _ => answer.Health is NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Silent or NodeHealth.Failed,
    };
}
