namespace Tango;

/// <summary>Behaviour of opening where the log has no object of that name.</summary>
public enum OpenMode
{
    /// <summary>Opening fails with <see cref="TangoObjectNotFoundException"/>.</summary>
    Existing,

    /// <summary>Opening creates an empty object. Of several programs that do so at once, one creates it and all open
    /// it.</summary>
    Create,
}
