namespace Corfu.StateMachines;

/// <summary>How fresh the state of a query is.</summary>
public readonly record struct QueryAs
{
    private QueryAs(bool isLocal, LogPosition? position) => (IsLocal, Position) = (isLocal, position);

    /// <summary>All commands that were acknowledged anywhere before the query began. The default.</summary>
    public static QueryAs Linearizable => default;

    /// <summary>The state here, whatever it is: no request.</summary>
    public static QueryAs Local => new(true, null);

    internal bool IsLocal { get; }

    internal LogPosition? Position { get; }

    /// <summary>A state that has the entry at this position and all below, a command's
    /// <see cref="CommandOutcome.Place"/> for example. Waits until the replica has come so far. The entry may be of
    /// another stream.</summary>
    public static QueryAs AtLeast(LogPosition position) => new(false, position);
}
