namespace Corfu.FaultRuns.Objects.Faults;

public enum StoreFault
{
    /// <summary>SIGKILL to one node, which starts again with its data.</summary>
    KillNode,

    /// <summary>SIGSTOP to one node, for longer than others wait until they suspect it, or shorter.</summary>
    StopNode,

    /// <summary>A node and all the rest do not reach each other.</summary>
    CutNode,

    /// <summary>A node with half of the clients is on one side, all the rest on the other.</summary>
    CutNodeWithClients,

    /// <summary>Packets of a node to another node are lost; the way back is open.</summary>
    OneWay,

    /// <summary>Two nodes do not reach each other, and all others reach both: long enough, mostly, for one of them to
    /// leave the chains in which they are neighbours.</summary>
    CutPair,

    /// <summary>A node and the log do not reach each other.</summary>
    CutFromLog,

    /// <summary>SIGKILL to two nodes at once: some chains have no majority left.</summary>
    KillTwo,

    /// <summary>SIGKILL to all nodes.</summary>
    KillAll,

    /// <summary>SIGSTOP to all processes of the log.</summary>
    StopLog,
}
