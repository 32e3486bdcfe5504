namespace Salus.Protocol;

/// <summary>A checksum salted with its signer's identity. Guards against faults, not against malice: whatever knows the
/// incarnation can compute it (2.1).</summary>
public readonly record struct WeakSignature(Hash128 Value)
{
    public bool IsOf(Incarnation signer, in Statement statement) => Value == statement.HashFor(signer);
}

/// <summary>The only place where an incarnation signs (S1).</summary>
public sealed class Signer(Incarnation incarnation)
{
    public Incarnation Incarnation { get; } = incarnation;

    public WeakSignature Sign(in Statement statement) => new(statement.HashFor(Incarnation));
}
