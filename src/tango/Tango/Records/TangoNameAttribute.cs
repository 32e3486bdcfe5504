namespace Tango;

/// <summary>Gives a value type the name that it has in the names of object types in the directory, in place of its full
/// name. Stored in the log: never change it.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct, Inherited = false)]
public sealed class TangoNameAttribute(string name) : Attribute
{
    public string Name { get; } = name;
}
