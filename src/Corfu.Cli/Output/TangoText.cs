namespace Corfu.Cli;

/// <summary>The records of Tango in a payload, one line each.</summary>
internal static class TangoText
{
    /// <summary>Empty if the payload was not written by Tango.</summary>
    public static IReadOnlyList<string> Records(ReadOnlyMemory<byte> payload) => payload.IsEmpty ? [] : [];
}
