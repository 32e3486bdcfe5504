namespace Corfu.Protocol;

/// <summary>The requests of a unit.</summary>
public static class UnitMessages
{
    public static void AddTo(RequestTable table)
    {
        table.Add(Opcode.Write, static (epoch, ref r) => new WriteRequest(epoch, r.Bytes()));
        table.Add(Opcode.Complete, static (epoch, ref r) => new CompleteRequest(epoch, r.Bytes()));
        table.Add(Opcode.Fill, static (epoch, ref r) => new FillRequest(epoch, r.Bytes()));
        table.Add(Opcode.Read, ReadRequest.Read);
        table.Add(Opcode.Trim, TrimRequest.Read);
        table.Add(Opcode.TrimPrefix, TrimPrefixRequest.Read);
        table.Add(Opcode.Seal, static (epoch, ref _) => new SealRequest(epoch));
        table.Add(Opcode.Install, InstallRequest.Read);
        table.Add(Opcode.ConfirmEpoch, static (epoch, ref _) => new ConfirmEpochRequest(epoch));
        table.Add(Opcode.StreamTails, StreamTailsRequest.Read);
        table.Add(Opcode.UnitInfo, static (epoch, ref _) => new UnitInfoRequest(epoch));
        table.Add(Opcode.Repair, static (epoch, ref r) => new RepairRequest(epoch, r.Bytes()));
        table.Add(Opcode.CompleteMany, CompleteManyRequest.Read);
        table.Add(Opcode.ListStreamTails, ListStreamTailsRequest.Read);
        table.Add(Opcode.ImportStreamTails, ImportStreamTailsRequest.Read);
    }
}
