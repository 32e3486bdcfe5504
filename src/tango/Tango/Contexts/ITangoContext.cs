namespace Tango;

/// <summary>Members that the generator writes for a <see cref="TangoContextAttribute"/> class.</summary>
public interface ITangoContext<TSelf>
    where TSelf : TangoContext, ITangoContext<TSelf>
{
    /// <summary>The name in the attribute.</summary>
    static abstract string DefaultName { get; }

    /// <summary>Opens all objects, creating those that are not there, and plays their history up to now.</summary>
    /// <param name="name">The first part of the objects' names, for several contexts of one type in a log. Null: the
    /// one in the attribute.</param>
    /// <exception cref="TangoDirectoryException">A name belongs to an object of another type, or to one outside the
    /// context's group.</exception>
    static abstract ValueTask<TSelf> OpenAsync(
        TangoRuntime runtime, string? name = null, CancellationToken cancellationToken = default);
}
