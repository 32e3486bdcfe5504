namespace Craq.Protocol;

/// <summary>The requests of a CRAQ node. A client reads, writes, transacts and learns of chains; all else is
/// between nodes.</summary>
public static class CraqMessages
{
    public static void AddTo(RequestTable table)
    {
        Add(table, CraqOpcode.Read, ReadObjectsRequest.Read, AccessRole.Client);
        Add(table, CraqOpcode.Mutate, MutateRequest.Read, AccessRole.Client);
        Add(table, CraqOpcode.Chains, ChainsRequest.Read, AccessRole.Client);
        Add(table, CraqOpcode.Replicate, ReplicateRequest.Read, AccessRole.Node);
        Add(table, CraqOpcode.Confirm, ConfirmRequest.Read, AccessRole.Node);
        Add(table, CraqOpcode.Install, InstallChainRequest.Read, AccessRole.Node);
        Add(table, CraqOpcode.Fetch, FetchRequest.Read, AccessRole.Node);
        Add(table, CraqOpcode.Reconcile, ReconcileRequest.Read, AccessRole.Admin);
        Add(table, CraqOpcode.Values, ValuesRequest.Read, AccessRole.Node);
        Add(table, CraqOpcode.Marked, MarkedRequest.Read, AccessRole.Node);
        Add(table, CraqOpcode.Ping, PingNodeRequest.Read, AccessRole.Node);
        Add(table, CraqOpcode.Transact, TransactRequest.Read, AccessRole.Client);
        Add(table, CraqOpcode.Prepare, PreparePartRequest.Read, AccessRole.Node);
        Add(table, CraqOpcode.Settle, SettlePartRequest.Read, AccessRole.Node);
    }

    private static void Add(RequestTable table, Opcode opcode, RequestReader read, AccessRole lowest) =>
        table.Add(opcode, read, WireProtocol.Version2, lowest);
}
