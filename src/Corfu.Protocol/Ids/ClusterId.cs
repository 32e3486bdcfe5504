namespace Corfu.Protocol;

/// <summary>Identity of a cluster; a handshake between different clusters is refused.</summary>
public readonly record struct ClusterId(Guid Value)
{
    public static readonly ClusterId None;

    public bool IsNone => Value == Guid.Empty;

    public override string ToString() => Value.ToString("D");
}
