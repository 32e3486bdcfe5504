namespace Corfu.Simulation.Kernel.Network;

/// <summary>How often each kind of network fault really happened.</summary>
public sealed class NetworkStats
{
    public int Messages { get; set; }

    public int Lost { get; set; }

    /// <summary>Requests of a kind that is lost more often than others.</summary>
    public int LostRequests { get; set; }

    public int Duplicated { get; set; }

    public int Delayed { get; set; }

    /// <summary>Messages that met a partition, in one or both directions.</summary>
    public int Blocked { get; set; }

    public int Broken { get; set; }

    public int Refused { get; set; }

    /// <summary>Messages that arrived before one sent earlier on the same link.</summary>
    public int Reordered { get; set; }
}
