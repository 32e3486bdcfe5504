namespace Tango.Formatting;

/// <summary>Facts that a generated formatter tells of its type, so that it can be checked when an object is
/// opened.</summary>
public interface IGeneratedFormatter
{
    /// <summary>The types of the members.</summary>
    IReadOnlyList<Type> Members { get; }

    /// <summary>Two values are equal exactly if their members are: no Equals of the user's.</summary>
    bool HasValueEquality { get; }

    /// <summary>Nothing in a value can change, as far as its type arguments cannot.</summary>
    bool IsImmutable => false;
}
