namespace Corfu;

/// <summary>How much of each page a read returns.</summary>
public enum ReadDetail : byte
{
    /// <summary>Only the state and the origin: a few bytes a page.</summary>
    State = 0,

    /// <summary>The entry's fixed part and stream headers, enough to walk backpointers (Tango 5).</summary>
    Headers = 1,

    Full = 2,

    /// <summary>The storage unit checks the whole page and answers with its headers. Enough to compare replicas: the
    /// headers' check covers the payload's.</summary>
    Verify = 3,
}
