namespace Tango.Collections.Tests;

/// <summary>A value whose equality looks at the id alone, as entities often do.</summary>
[TangoValue]
public sealed record Versioned(long Id, string Text)
{
    public bool Equals(Versioned? other) => other?.Id == Id;

    public override int GetHashCode() => (int)Id;
}
