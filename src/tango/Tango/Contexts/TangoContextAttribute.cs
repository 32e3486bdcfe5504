namespace Tango;

/// <summary>
/// Marks a partial class derived from <see cref="TangoContext"/>. Its partial properties are the objects that it opens;
/// the generator writes the constructor, <c>OpenAsync</c> and the properties' bodies.
/// </summary>
/// <remarks>A property that is added later is a new, empty object, which the first program that names it adds. One that
/// is removed leaves its object in the log.</remarks>
/// <param name="name">The context's name in the directory; each object is called <c>name/Property</c>. Stored in the
/// log: a renamed property is another object, unless it keeps its name with <see cref="ObjectNameAttribute"/>.</param>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class TangoContextAttribute(string name) : Attribute
{
    public string Name { get; } = name;

    /// <summary>
    /// Whether the objects are always hosted together, so that transactions over them need no decision records. False:
    /// each is opened alone, so that other processes may host other ones. Fixed when the context is first opened in a
    /// log. Default: true.
    /// </summary>
    public bool Group { get; init; } = true;
}
