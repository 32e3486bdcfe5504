namespace Corfu.Protocol;

/// <summary>The requests of a sequencer.</summary>
public static class SequencerMessages
{
    public static void AddTo(RequestTable table)
    {
        table.Add(Opcode.Bootstrap, BootstrapRequest.Read);
        table.Add(Opcode.Token, TokenRequest.Read);
        table.Add(Opcode.Tail, TailRequest.Read);
        table.Add(Opcode.LoadStreams, LoadStreamsRequest.Read);
        table.Add(Opcode.Grants, GrantsRequest.Read);
        table.Add(Opcode.SequencerInfo, static (epoch, ref _) => new SequencerInfoRequest(epoch));
        table.Add(Opcode.Advance, AdvanceRequest.Read);
    }
}
