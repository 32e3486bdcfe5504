namespace Tango;

/// <summary>What the directory knows about an object (Tango 3.2, Naming). Fixed at its creation.</summary>
/// <param name="TypeName">The name given by <see cref="TangoObjectAttribute"/>.</param>
/// <param name="Group">The co-hosted group it belongs to (R20), or null.</param>
/// <param name="VersionCapacity">Keys whose versions are kept (R18).</param>
public sealed record DirectoryEntry(ObjectId Id, string Name, string TypeName, string? Group, int VersionCapacity);
