namespace Corfu.Protocol;

/// <summary>Bounds that both sides of every connection know.</summary>
public static class MessageLimits
{
    /// <summary>A frame's length field above this costs the connection before anything is allocated for it.</summary>
    public const int MaxFrame = 8 << 20;

    /// <summary>A unit stops adding pages to one read answer beyond this; the client asks again for the rest.</summary>
    public const int ReadBudget = 2 << 20;

    /// <summary>Positions in one read, or streams in one query.</summary>
    public const int MaxItems = 4096;

    /// <summary>Tokens in one run.</summary>
    public const int MaxTokens = 65536;
}
