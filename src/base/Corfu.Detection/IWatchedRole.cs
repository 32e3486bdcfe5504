namespace Corfu.Detection;

/// <summary>How the nodes of one role are probed, and what their answers say.</summary>
public interface IWatchedRole
{
    NodeRole Role { get; }

    /// <summary>Whether a node that says that it stops may come back under its identity. If so, it is not missed for
    /// <see cref="DetectorOptions.LeaveGrace"/>.</summary>
    bool ReturnsAfterLeaving { get; }

    /// <summary>Whether its nodes are probed at the slow interval even while the agent of their process is
    /// silent.</summary>
    bool IsAlwaysSlow { get; }

    /// <summary>Whether its nodes hold data. An epoch takes in such a node only if it is freshly
    /// formatted.</summary>
    bool HoldsData { get; }

    /// <summary>Sends a request that every healthy node of the role answers.</summary>
    ValueTask<Response> ProbeAsync(NodeAddress node, CancellationToken cancellationToken);

    /// <summary>The status by which an answer is judged.</summary>
    Status StatusOf(Response answer);

    /// <summary>Takes from an answer what it says besides that the node is alive.</summary>
    void Record(MonitoredNode node, Response answer);

    /// <summary>Brings a node that is behind up to date; it has just answered.</summary>
    Task CatchUpAsync(MonitoredNode node, CancellationToken stopped);
}
