namespace Corfu.Protocol;

/// <summary>How much of each page a read returns.</summary>
public enum ReadDetail : byte
{
    /// <summary>Only the state and the origin: a few bytes a page.</summary>
    State = 0,

    /// <summary>The entry's fixed part and stream headers, enough to walk backpointers (Tango 5).</summary>
    Headers = 1,

    Full = 2,

    /// <summary>
    /// The unit reads the whole page and checks it, and answers with its headers: enough to compare replicas, since the headers' check
    /// covers the payload's. A scrub asks for this, and the pages stay where they are.
    /// </summary>
    Verify = 3,
}
