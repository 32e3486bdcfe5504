namespace Corfu.FaultRuns.Volumes.Faults;

public enum VolumeFaultKind
{
    /// <summary>SIGKILL to the process that has the volume mounted; another one takes over.</summary>
    KillWriter,

    /// <summary>SIGKILL to one node, which starts again with its data.</summary>
    KillNode,

    /// <summary>SIGSTOP to one node, for longer than its lease, or shorter.</summary>
    StopNode,

    /// <summary>SIGKILL to two nodes at once.</summary>
    KillTwo,

    /// <summary>SIGKILL to all nodes and to the writer.</summary>
    KillAll,

    /// <summary>A node and all the rest do not reach each other.</summary>
    CutNode,

    /// <summary>A node and the log do not reach each other.</summary>
    CutFromLog,

    /// <summary>SIGSTOP to all processes of the log.</summary>
    StopLog,

    /// <summary>A node is killed, and bits of its log and its checkpoint files flip before it starts again.</summary>
    FlipBits,

    /// <summary>A node is killed, and its newest log file is cut short.</summary>
    CutLog,

    /// <summary>A node is killed, and starts again with its data as it was some time ago.</summary>
    OldDisk,

    /// <summary>The data of two nodes is damaged, and the writer is killed at the same time.</summary>
    DamageTwoAndKillWriter,
}
