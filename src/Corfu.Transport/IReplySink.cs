using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>The sending half of a server connection. Thread-safe; answers sent close together leave with one flush.</summary>
public interface IReplySink
{
    void Send(uint correlation, Opcode opcode, Response response);
}
