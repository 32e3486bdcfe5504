namespace Tango;

/// <summary>Marks a partial class derived from <see cref="TangoObject"/> as a replicated object; the generator writes
/// the rest of it.</summary>
/// <param name="typeName">The type's name in the directory. It is stored in the log: never change or reuse it.</param>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class TangoObjectAttribute(string typeName) : Attribute
{
    public string TypeName { get; } = typeName;
}
