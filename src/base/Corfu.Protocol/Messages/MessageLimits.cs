namespace Corfu.Protocol;

/// <summary>Bounds that both sides of every connection know.</summary>
public static class MessageLimits
{
    /// <summary>A frame with a larger length field ends its connection. An answer that would be larger carries
    /// <see cref="Status.TooLarge"/> instead.</summary>
    public const int MaxFrame = 8 << 20;

    /// <summary>A unit stops adding pages to one read answer beyond this; the client asks again for the rest.</summary>
    public const int ReadBudget = 2 << 20;

    /// <summary>Positions in one read, or streams in one query.</summary>
    public const int MaxItems = 4096;

    /// <summary>Tokens in one run.</summary>
    public const int MaxTokens = 65536;

    /// <summary>A sequencer stops adding grants to one answer when their streams are more than this; the client asks
    /// again for the rest.</summary>
    public const int GrantBudget = 16384;

    /// <summary>Bytes of a host name, the most that DNS has.</summary>
    public const int MaxHost = 253;

    /// <summary>Bytes of a text for people, such as a projection's reason; longer ones are cut by their
    /// writer.</summary>
    public const int MaxReason = 1024;

    /// <summary>Bytes of a projection: an answer of the layout holds two.</summary>
    public const int MaxProjection = 2 << 20;

    /// <summary>No node takes an epoch farther above the newest that it knows. Far more than a cluster goes through,
    /// and one wrong number leaves nearly all epochs.</summary>
    public const long EpochReach = 1L << 20;
}
