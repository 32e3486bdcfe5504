namespace Corfu.Register;

/// <summary>The answer to every request.</summary>
/// <param name="Known">The slot of the newest decided value; none in a refusal by an acceptor that takes no
/// requests.</param>
/// <param name="Register">After the request; for <see cref="ReadNewest"/>: of the highest slot with anything in
/// it.</param>
/// <param name="Newest">The newest decided value known; null in a refusal.</param>
public sealed record RegisterAnswer(
    Status Status, Epoch Known, RegisterState? Register = null, RegisterValue? Newest = null);

/// <summary>State of a slot's register at one acceptor. A value is decided only when one ballot is accepted by a
/// majority, or an acceptor knows so (<see cref="IsDecided"/>). A lone accepted value proves nothing.</summary>
public sealed record RegisterState(
    Epoch Slot, Ballot Promised, Ballot Accepted, RegisterValue? Value, bool IsDecided);
