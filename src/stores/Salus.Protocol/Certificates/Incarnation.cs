namespace Salus.Protocol;

/// <summary>A life of a process: a region server, a store or a driver. A restarted process is another, and signs
/// nothing for what the one before was (S7).</summary>
public readonly record struct Incarnation(Guid Value)
{
    public bool IsNone => Value == Guid.Empty;

    public override string ToString() => Value.ToString("N")[..8];
}
