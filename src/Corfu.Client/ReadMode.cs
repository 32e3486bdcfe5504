namespace Corfu.Client;

/// <summary>What a read does about an unwritten position.</summary>
public enum ReadMode
{
    /// <summary>A hole below the tail is closed first; at or above the tail the answer is Unwritten.</summary>
    CloseHoles,

    /// <summary>Reads have no effect: a hole is answered as Unwritten.</summary>
    Observe,
}
