namespace Salus.Protocol;

/// <summary>The requests of region servers and stores. A driver puts, gets, reads trees, asks how far a region is,
/// for its roots and for checkpoints, and a tool how a store is; all else is between nodes.</summary>
public static class SalusMessages
{
    public static void AddTo(RequestTable table)
    {
        Add(table, SalusOpcode.PutBatch, PutBatchRequest.Read, AccessRole.Client);
        Add(table, SalusOpcode.Get, GetRequest.Read, AccessRole.Client);
        Add(table, SalusOpcode.ReadTree, ReadTreeRequest.Read, AccessRole.Client);
        Add(table, SalusOpcode.RegionStatus, RegionStatusRequest.Read, AccessRole.Client);
        Add(table, SalusOpcode.Cut, CutRequest.Read, AccessRole.Client);
        Add(table, SalusOpcode.RegionHistory, RegionHistoryRequest.Read, AccessRole.Client);
        Add(table, SalusOpcode.StoreInfo, StoreInfoRequest.Read, AccessRole.Client);
        Add(table, SalusOpcode.Forward, ForwardRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Prepared, PreparedRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Vote, VoteRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Confirm, ConfirmRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Decide, DecideRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Commit, CommitRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Fence, FenceRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Adopt, AdoptRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Release, ReleaseRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Checkpointed, CheckpointedRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.Seal, SealRegionRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.ListLog, ListLogRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.ReadRecords, ReadRecordsRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.ListFiles, ListFilesRequest.Read, AccessRole.Node);
        Add(table, SalusOpcode.ReadFile, ReadFileRequest.Read, AccessRole.Node);
    }

    private static void Add(RequestTable table, Opcode opcode, RequestReader read, AccessRole lowest) =>
        table.Add(opcode, read, WireProtocol.Version2, lowest);
}
