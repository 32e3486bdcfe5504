namespace Tango.Collections.Tests;

/// <summary>A value whose equality looks at the id alone, as entities often do.</summary>
[MessagePackObject]
public sealed record Versioned([property: Key(0)] long Id, [property: Key(1)] string Text)
{
    public bool Equals(Versioned? other) => other?.Id == Id;

    public override int GetHashCode() => (int)Id;
}
