namespace Corfu.Protocol;

/// <summary>Random per client incarnation, so that a restarted client is never mistaken for its predecessor (R9).</summary>
public readonly record struct WriterId(Guid Value)
{
    public override string ToString() => Value.ToString("N")[..8];
}
