using Corfu.Protocol;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>Sees calls as the calling process does: a request as it is sent, its answer as the caller takes it. The
/// network may lose or repeat either; an answer to a call that has been given up is not seen.</summary>
public interface ICallObserver
{
    void Sent(SimProcess caller, NodeId to, Request request);

    void Answered(SimProcess caller, NodeId to, Request request, Response response);
}
