using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>A fact that a process has learnt or has told its caller: the invariants are about facts.</summary>
public abstract record Fact;

/// <summary>An operation begins: real time is counted from here.</summary>
public sealed record Began(string Operation) : Fact;

public sealed record Acknowledged(string Operation, long Position, EntryOrigin Origin) : Fact;

/// <summary>The caller has been told that this attempt is not in the log.</summary>
public sealed record Refused(EntryOrigin Origin) : Fact;

/// <summary>A reader was shown this.</summary>
public sealed record Observed(long Position, EntryKind Kind, EntryOrigin Origin) : Fact;

/// <summary>A linearizable check answered this tail.</summary>
public sealed record Checked(string Operation, long Tail) : Fact;

public sealed record Decided(Projection Projection) : Fact;

/// <summary>A process met what a correct cluster never shows.</summary>
public sealed record Met(string What) : Fact;
