namespace Corfu.ModelCheck.Processes;

public enum ClientTaskKind
{
    /// <summary>Append one entry; up to two positions are tried.</summary>
    Append,

    /// <summary>Read a position, closing it if it is a hole.</summary>
    Read,

    /// <summary>Ask for the tail, linearizably.</summary>
    Check,

    /// <summary>Find out what became of an append of an earlier epoch, begun before the model starts.</summary>
    Resolve,
}

public sealed record ClientTask(ClientTaskKind Kind, long Position = 0);
