namespace Corfu.Etcd.Translation;

/// <summary>Writes and transactions as the store takes them.</summary>
internal static class Transactions
{
    public static StorePut Of(PutRequest put) =>
        new(Ranges.KeyOf(put.Key), put.Value.Memory, put.Lease)
        {
            KeepsValue = put.IgnoreValue,
            KeepsLease = put.IgnoreLease,
            Previous = put.PrevKv,
        };

    public static StoreDelete Of(DeleteRangeRequest delete) =>
        new(Ranges.Of(delete.Key, delete.RangeEnd)) { Previous = delete.PrevKv };

    public static StoreTransaction Of(TxnRequest request) => StoreTransaction.Empty
        .If([.. request.Compare.Select(Of)])
        .Then([.. request.Success.Select(Of)])
        .Else([.. request.Failure.Select(Of)]);

    private static StoreOperation Of(RequestOp operation) => operation.RequestCase switch
    {
        RequestOp.RequestOneofCase.RequestPut => Of(operation.RequestPut),
        RequestOp.RequestOneofCase.RequestDeleteRange => Of(operation.RequestDeleteRange),
        RequestOp.RequestOneofCase.RequestTxn => new StoreNested(Of(operation.RequestTxn)),
        _ => Of(operation.RequestRange),
    };

    private static StoreGet Of(RangeRequest range) =>
        new(RangeAnswers.RangeOf(range), RangeAnswers.OptionsOf(range))
        {
            Revision = range.Revision > 0 ? range.Revision : null,
        };

    // An operand of another target than the one named counts as 0, or as empty.
    private static StoreCondition Of(Compare compare)
    {
        var range = Ranges.Of(compare.Key, compare.RangeEnd);
        var relation = compare.Result switch
        {
            Compare.Types.CompareResult.Equal => Relation.Equal,
            Compare.Types.CompareResult.Greater => Relation.Greater,
            Compare.Types.CompareResult.Less => Relation.Less,
            Compare.Types.CompareResult.NotEqual => Relation.NotEqual,
            _ => throw EtcdErrors.Unsupported($"There is no relation {compare.Result}."),
        };
        return compare.Target switch
        {
            Compare.Types.CompareTarget.Version => StoreCondition.Version(range, relation, compare.Version),
            Compare.Types.CompareTarget.Create => StoreCondition.Created(range, relation, compare.CreateRevision),
            Compare.Types.CompareTarget.Mod => StoreCondition.Revision(range, relation, compare.ModRevision),
            Compare.Types.CompareTarget.Value => StoreCondition.Value(range, relation, compare.Value.Memory),
            Compare.Types.CompareTarget.Lease => StoreCondition.Lease(range, relation, compare.Lease),
            _ => throw EtcdErrors.Unsupported($"There is no target {compare.Target}."),
        };
    }
}
