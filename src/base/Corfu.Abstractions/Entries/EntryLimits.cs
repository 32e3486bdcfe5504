namespace Corfu;

/// <summary>Limits of one entry.</summary>
public static class EntryLimits
{
    /// <summary>Bytes; a cluster may be started with another limit.</summary>
    public const int DefaultMaxPayload = 1 << 20;

    public const int MaxStreams = 1024;
}
