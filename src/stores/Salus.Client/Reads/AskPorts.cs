namespace Salus.Reads;

/// <summary>The ports of questions to members.</summary>
/// <param name="Suspect">Region, generation, member, kind: accuses a member on the log; returns at once.</param>
internal sealed record AskPorts(ITransport Transport, TimeProvider Time, LoopContext Loops, MemberLoad Load,
    TimeSpan ReadPatience, Action<int, Epoch, Incarnation, SuspicionKind> Suspect);
