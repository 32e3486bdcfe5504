using Corfu.Protocol;

namespace Corfu.Layout;

/// <summary>
/// What an acceptor must not forget (R12). Replaying records is idempotent, and a record that says less than is already
/// known changes nothing.
/// </summary>
public abstract record AcceptorRecord;

/// <summary>No lower ballot will be taken for the slot.</summary>
public sealed record PromiseRecord(Epoch Slot, Ballot Ballot) : AcceptorRecord;

/// <summary>The slot's value as of this ballot; a promise as well.</summary>
public sealed record AcceptRecord(Ballot Ballot, Projection Value) : AcceptorRecord;

/// <summary>The value is the slot's for ever.</summary>
public sealed record DecidedRecord(Projection Value) : AcceptorRecord;

/// <summary>Slots below are pruned.</summary>
public sealed record FloorRecord(Epoch Floor) : AcceptorRecord;
