namespace Tango;

/// <summary>Marks an immutable type whose formatter is generated: a MessagePack array indexed by the members' <see cref="TangoMemberAttribute"/>.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct, Inherited = false)]
public sealed class TangoValueAttribute : Attribute
{
    /// <summary>The name used in object type names in the directory; null: the type's full name. Stored in the log.</summary>
    public string? Name { get; set; }
}
