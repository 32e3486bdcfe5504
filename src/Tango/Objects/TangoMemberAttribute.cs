namespace Tango;

/// <summary>The member's place in the array that a <see cref="TangoValueAttribute"/> type is written as: from 0, never
/// reused; add at the end.</summary>
[AttributeUsage(AttributeTargets.Property | AttributeTargets.Field | AttributeTargets.Parameter, Inherited = false)]
public sealed class TangoMemberAttribute(int number) : Attribute
{
    public int Number { get; } = number;
}
