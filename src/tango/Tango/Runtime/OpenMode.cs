namespace Tango;

/// <summary>What opening does where the log has no object of that name.</summary>
public enum OpenMode
{
    /// <summary>It fails with <see cref="TangoObjectNotFoundException"/>.</summary>
    Existing,

    /// <summary>It creates an empty object. Of several programs that do so at once, one creates it and all open
    /// it.</summary>
    Create,
}
