using Tango.Formatting;

namespace Tango.Model;

/// <summary>
/// Views share their values with readers, so a value that can be changed in place is copied for every reader: else one
/// of them changes the state of this replica alone.
/// </summary>
internal static class ResultCopy<T>
{
    private static readonly bool s_isMutable = MutableTypes.IsMutable(typeof(T));

    /// <exception cref="TangoFormatException">The copy is made by the type's formatter, and it has none.</exception>
    public static T Of(T value, HostedObject hosted) => Of(value, hosted.HoldsMutableValues);

    /// <param name="holdsMutable">Whether the view holds values that can be changed in place.</param>
    /// <exception cref="TangoFormatException">As above.</exception>
    public static T Of(T value, bool holdsMutable)
    {
        if (!s_isMutable || !holdsMutable) return value;
        var reader = new MessagePackReader(TangoFormatters.ToBytes(value));
        return TangoFormatters.Read<T>(ref reader);
    }
}
