namespace Corfu.Protocol;

/// <summary>What a role is for in the newest projection. Numbers are part of the wire format.</summary>
public enum NodeDuty : byte
{
    None = 0,

    /// <summary>Named by the projection.</summary>
    Serving = 1,

    /// <summary>A freshly formatted unit that waits to be taken in.</summary>
    Spare = 2,

    /// <summary>A sequencer or an acceptor that waits to take over.</summary>
    Standby = 3,

    /// <summary>A unit that has served and was removed: it never returns under this identity (R2).</summary>
    Removed = 4,
}
