using Corfu.Protocol;
using Salus.Protocol;

namespace Corfu.Simulation.Salus;

/// <summary>Messages of the block store as a person wants to read them in a trace, and facts as the checkers take
/// them.</summary>
internal static class SalusText
{
    public static BatchFact FactOf(in BatchName name) => new(name.Run, name.Number, $"{name.Digest}");

    /// <summary>The root of a region with these blocks.</summary>
    public static string RootOf(IReadOnlyList<string> blocks)
    {
        List<Hash128> pages = [];
        foreach (var page in blocks.Chunk(VolumeGeometry.PageBlocks))
        {
            Hash128[] leaves =
            [
                .. page.Select(hash => hash.Length == 0
                    ? default
                    : new Hash128(UInt128.Parse(hash, System.Globalization.NumberStyles.HexNumber, null))),
            ];
            pages.Add(new TreePage(leaves).Hash);
        }

        return $"{RegionTree.FromPages(pages.ToArray()).Root}";
    }

    public static string Of(Request request) => request switch
    {
        PutBatchRequest r => $"Put {r.Epoch} {r.Region} {Of(SubBatch.Decode(r.Batch, out _))} C {Of(r.Commit)}",
        ForwardRequest r => $"Forward {Of(r.Head)} signed {r.Signatures.Length} C {Of(r.Commit)}",
        PreparedRequest r => $"Prepared {r.Epoch} {r.Region} {r.Batch} by {r.Member}",
        VoteRequest r => $"Vote {r.Epoch} of {r.Vote.Region} {r.Vote.Certificate.Generation} to {r.Leader} {r.Batch}",
        ConfirmRequest r => $"Confirm {r.Epoch} {r.Leader} ({r.Run}, {r.Batch})",
        DecideRequest r => $"Decide {r.Epoch} {r.Leader} [{string.Join(" ", r.Batches.Select(b => b.Header.Name))}] "
            + $"behind {Of(r.Predecessor)} signed {r.Signatures.Length}",
        CommitRequest r => $"Commit {r.Epoch} {r.Region} {Of(r.Commit)}",
        GetRequest r => $"Get {r.Epoch} {r.Region} {r.First}+{r.Count} last {r.Last} C {Of(r.Commit)}",
        RegionStatusRequest r => $"Status {r.Epoch} {r.Region} run {r.Run} oldest {r.Oldest}",
        FenceRequest r => $"Fence {r.Epoch} {r.Region} run {r.Report.Run} C {Of(r.Report.Committed)} last "
            + $"{r.Report.Last?.Name} above [{string.Join(" ", r.Report.Above.Select(b => b.Name))}] index {r.Index}",
        AdoptRequest r => $"Adopt {Of(r.Head)} run {r.Opening.Run} last {r.Opening.Last} stores {r.StoresRead}",
        SealRegionRequest r => $"Seal {r.Epoch} {r.Region}",
        ListLogRequest r => $"ListLog {r.Region} from {r.From}",
        ReadRecordsRequest r => $"ReadRecords {r.Region} [{string.Join(" ", r.Records)}]",
        _ => $"{(int)request.Opcode} {request}",
    };

    public static string Of(Response response) => response switch
    {
        PutBatchResponse r => $"{Head(r)} last {r.Last} C {Of(r.Commit)}",
        ForwardResponse r => $"{Head(r)} signed {r.Signatures.Length} last {r.LastIndex}",
        CommitResponse r => $"{Head(r)} C {Of(r.Commit)}",
        RegionStatusResponse r => $"{Head(r)} index {r.LastIndex} last {r.Last} C {Of(r.Commit)} waits {r.Wait}",
        ListLogResponse r => $"{Head(r)} sealed {r.Sealed} [{string.Join(" ", r.Records.Select(l => Of(l.Head)))}] C "
            + Of(r.Commit),
        _ => Head(response),
    };

    private static string Of(in RecordHead head) =>
        $"{head.Kind} {head.Region} {head.Generation} index {head.Index} {$"{head.Chain}"[..6]}";

    private static string Of(SubBatch batch) => $"{batch.Header.Name} [{string.Join(" ",
        batch.Header.Participants.Select(participant => participant.Region))}] leader {batch.Header.Leader}";

    private static string Of(CommitProof? proof) =>
        proof is null ? "-" : $"{proof.Batch} of {proof.Leader} {proof.Certificate.Generation}";

    private static string Head(Response response) =>
        $"{response.GetType().Name.Replace("Response", "", StringComparison.Ordinal)} {Name(response.Status)} "
        + $"{response.Epoch}";

    private static string Name(Status status) => status switch
    {
        SalusStatus.Pending => "Pending",
        SalusStatus.WrongMember => "WrongMember",
        SalusStatus.Gap => "Gap",
        SalusStatus.RunOver => "RunOver",
        SalusStatus.Diverged => "Diverged",
        SalusStatus.Behind => "Behind",
        SalusStatus.NotFound => "NotFound",
        _ => $"{status}",
    };
}
