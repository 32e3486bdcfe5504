namespace Corfu.Protocol;

/// <summary>The requests of an agent.</summary>
public static class AgentMessages
{
    public static void AddTo(RequestTable table)
    {
        table.Add(Opcode.Ping, PingRequest.Read);
        table.Add(Opcode.Suspicion, SuspicionRequest.Read);
        table.Add(Opcode.AgentInfo, static (epoch, ref _) => new AgentInfoRequest(epoch));
        table.Add(Opcode.SetAutomation, SetAutomationRequest.Read);
        table.Add(Opcode.ProcessInfo, static (epoch, ref _) => new ProcessInfoRequest(epoch), WireProtocol.Version2);
        table.Add(Opcode.Deny, DenyRequest.Read, WireProtocol.Version2);
    }
}
