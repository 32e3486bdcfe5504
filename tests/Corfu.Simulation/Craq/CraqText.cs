using Corfu.Protocol;
using Craq;
using Craq.Protocol;
using Craq.Storage;
using RecordCodec = Craq.Protocol.RecordCodec;

namespace Corfu.Simulation.Craq;

/// <summary>Messages of chains as a person wants to read them in a trace.</summary>
internal static class CraqText
{
    /// <summary>The name of a transaction's part in histories.</summary>
    public static string PartOf(Guid transaction, string chain) => $"{transaction} in {chain}";

    public static string Of(Request request) => request switch
    {
        ReadObjectsRequest r => $"Read {r.Epoch} {Short(r.Chain)} {r.Mode} [{string.Join(",", r.Keys)}]"
            + (r.Token.IsNone ? "" : $" token {r.Token}"),
        MutateRequest r => $"Mutate {r.Epoch} {Short(r.Chain)} {r.Id} not before {r.NotBefore} "
            + $"[{string.Join(",", r.Operations.Select(o => $"{o.Kind} {o.Key}"))}] if "
            + $"[{string.Join(",", r.Compares.Select(c => $"{c.Kind} {c.Key} {c.Version}"))}]",
        ReplicateRequest r => $"Replicate {r.Epoch} {Short(r.Chain)} behind {r.Previous} mark {r.Mark} "
            + $"[{string.Join(",", r.Records.Select(bytes => RecordCodec.VersionOf(bytes.Span)))}]",
        ValuesRequest r => $"Values {r.Epoch} {Short(r.Chain)} {RecordCodec.VersionOf(r.Record.Span)}",
        MarkedRequest r => $"Marked {r.Epoch} {Short(r.Chain)} {r.Mark}",
        ConfirmRequest r =>
            $"Confirm [{string.Join(",", r.Chains.Select(c => $"{Short(c.Chain)} {c.Epoch}"))}]",
        InstallChainRequest r => $"Install {r.View.Config}",
        FetchRequest r => $"Fetch {r.Epoch} {Short(r.Chain)} after {r.After}{(r.CommittedOnly ? " committed" : "")}",
        _ => $"{(int)request.Opcode} {request.Epoch} {request}",
    };

    public static string Of(Response response) => response switch
    {
        ReadObjectsResponse { IsOk: true } r => $"{Head(r)} mark {r.Mark} age {r.Age} "
            + $"[{string.Join(",", r.Objects.Select(o => $"{Name(o.Status)} {o.Version}{(o.IsDirty ? "?" : "")}"))}]",
        MutateResponse { Status: Status.Ok or CraqStatus.Mismatch } r => $"{Head(r)} {r.Version} mark {r.Mark}",
        ReplicateResponse { Status: Status.Ok or CraqStatus.Gap } r => $"{Head(r)} last {r.Last} mark {r.Mark}",
        ConfirmResponse { IsOk: true } r => $"{Head(r)} "
            + $"[{string.Join(",", r.Chains.Select(c => $"{(c.IsExact ? "exact" : "not")} {c.Epoch} {c.Mark}"))}]",
        InstallChainResponse { IsOk: true } r => $"{Head(r)} last {r.Last} mark {r.Mark}",
        FetchResponse { IsOk: true } r => $"{Head(r)} last {r.Last} mark {r.Mark} "
            + $"[{string.Join(",", r.Records.Select(bytes => RecordCodec.VersionOf(bytes.Span)))}]",
        _ => Head(response),
    };

    public static string Of(in StoreRecord record) => $"{record.Kind}{(record.IsMoved ? " moved" : "")} "
        + $"{Short(record.Chain)} {record.Version} at {record.Place.Address}"
        + (record.Kind is StoreRecordKind.Chain or StoreRecordKind.Copy ? Writes(record.Body) : "");

    private static string Writes(ReadOnlyMemory<byte> body)
    {
        var record = RecordCodec.Decode(body.ToArray(), valuesChecked: false);
        return $" {record.Kind} behind {record.Previous} "
            + $"[{string.Join(",", record.Writes.Select(write => $"{write.Key}{(write.IsDelete ? " gone" : "")}"))}]";
    }

    private static string Head(Response response) =>
        $"{response.GetType().Name.Replace("Response", "", StringComparison.Ordinal)} {Name(response.Status)} "
        + $"{response.Epoch}";

    private static string Name(Status status) => status switch
    {
        CraqStatus.WrongRole => "WrongRole",
        CraqStatus.Gap => "Gap",
        CraqStatus.NotOpen => "NotOpen",
        CraqStatus.Unconfirmed => "Unconfirmed",
        CraqStatus.Behind => "Behind",
        CraqStatus.Stale => "Stale",
        CraqStatus.Mismatch => "Mismatch",
        CraqStatus.Locked => "Locked",
        CraqStatus.Forgotten => "Forgotten",
        CraqStatus.NotFound => "NotFound",
        _ => $"{status}",
    };

    private static string Short(ChainId chain) => chain.Value.ToString("N")[..4];
}
