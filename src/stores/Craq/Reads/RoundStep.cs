namespace Craq.Reads;

/// <summary>A question to a member about its epoch and its mark.</summary>
/// <param name="Round">The number of the round.</param>
internal readonly record struct RoundQuestion(long Round, NodeId Member);

/// <summary>The outcome of a step of the rounds. Emptied for the next one.</summary>
internal sealed class RoundStep
{
    /// <summary>Members to ask.</summary>
    public List<RoundQuestion> Questions { get; } = [];

    /// <summary>Waiters that have heard something, and wait in their rounds.</summary>
    public List<IRoundWaiter> Heard { get; } = [];

    /// <summary>Waiters of confirmed rounds: they have all that they waited for, and are in no round.</summary>
    public List<IRoundWaiter> Left { get; } = [];

    public void Clear()
    {
        Questions.Clear();
        Heard.Clear();
        Left.Clear();
    }
}
