namespace Tango;

/// <summary>The last part of the name that an object of a <see cref="TangoContext"/> has in the directory, in place of
/// its property's name.</summary>
[AttributeUsage(AttributeTargets.Property, Inherited = false)]
public sealed class ObjectNameAttribute(string name) : Attribute
{
    public string Name { get; } = name;
}
