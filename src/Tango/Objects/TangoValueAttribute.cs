namespace Tango;

/// <summary>Marks an immutable type whose formatter is generated: a MessagePack array indexed by the members'
/// <see cref="TangoMemberAttribute"/>.</summary>
/// <remarks>A positional record may leave the numbers out: they are those of its parameters, from 0.</remarks>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct, Inherited = false)]
public sealed class TangoValueAttribute : Attribute
{
    /// <summary>The name used in object type names in the directory; null: the type's full name. Stored in the
    /// log.</summary>
    public string? Name { get; set; }

    /// <summary>Numbers of members that were removed: never used again, written as nil.</summary>
    public int[] Reserved { get; set; } = [];
}
