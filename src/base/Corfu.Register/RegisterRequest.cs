namespace Corfu.Register;

/// <summary>A request to an acceptor: about the register of a slot, or about the newest decision.</summary>
public abstract record RegisterRequest(Epoch Slot);

/// <summary>Reads the newest decided value, and the highest slot that the acceptor holds anything for.</summary>
public sealed record ReadNewest() : RegisterRequest(Epoch.None);

/// <summary>As <see cref="ReadNewest"/>, answered when a value above <paramref name="Known"/> is decided. At its limit
/// of watchers an acceptor answers the oldest early; of each connection it keeps the newest.</summary>
public sealed record WatchNewest(Epoch Known) : RegisterRequest(Known);

/// <summary>Reads one register.</summary>
public sealed record ReadRegister(Epoch Slot) : RegisterRequest(Slot);

/// <summary>Phase 1 of Paxos.</summary>
public sealed record PrepareBallot(Epoch Slot, Ballot Ballot) : RegisterRequest(Slot);

/// <summary>Phase 2 of Paxos.</summary>
public sealed record AcceptValue(Ballot Ballot, RegisterValue Value) : RegisterRequest(Value.Slot);

/// <summary>Tells a decided value: the acceptor stores it durably as such.</summary>
public sealed record LearnDecision(RegisterValue Value) : RegisterRequest(Value.Slot);
