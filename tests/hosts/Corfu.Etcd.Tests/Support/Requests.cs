namespace Corfu.Etcd.Tests.Support;

/// <summary>Requests with keys and values as text.</summary>
internal static class Requests
{
    /// <summary>The end of ranges that have none.</summary>
    public const string Open = "\0";

    public static ByteString Bytes(string text) => ByteString.CopyFromUtf8(text);

    public static PutRequest Put(string key, string value, long lease = 0) =>
        new() { Key = Bytes(key), Value = Bytes(value), Lease = lease };

    public static RangeRequest Range(string key, string end = "") => new() { Key = Bytes(key), RangeEnd = Bytes(end) };

    public static DeleteRangeRequest Delete(string key, string end = "") =>
        new() { Key = Bytes(key), RangeEnd = Bytes(end) };

    public static RequestOp Op(PutRequest put) => new() { RequestPut = put };

    public static RequestOp Op(RangeRequest range) => new() { RequestRange = range };

    public static RequestOp Op(DeleteRangeRequest delete) => new() { RequestDeleteRange = delete };

    public static RequestOp Op(TxnRequest txn) => new() { RequestTxn = txn };

    public static TxnRequest Txn(params RequestOp[] operations)
    {
        var txn = new TxnRequest();
        txn.Success.AddRange(operations);
        return txn;
    }

    public static string Text(RangeResponse found) => string.Join(' ', found.Kvs.Select(Text));

    public static string Text(KeyValue? pair) =>
        pair is null ? "none" : $"{pair.Key.ToStringUtf8()}={pair.Value.ToStringUtf8()}";

    /// <summary>As <c>2:a=1,b-</c>, with what was before in parentheses.</summary>
    public static string Text(WatchResponse told) => $"{told.Header.Revision}:" + string.Join(',', told.Events.Select(
        static one => (one.Type == Event.Types.EventType.Delete ? $"{one.Kv.Key.ToStringUtf8()}-" : Text(one.Kv))
            + (one.PrevKv is { } before ? $"({before.Value.ToStringUtf8()})" : "")));

    /// <summary>The code and the text of a failure.</summary>
    public static async Task<(StatusCode Code, string Text)> FailureOf<T>(AsyncUnaryCall<T> call)
    {
        var failure = await Assert.ThrowsAsync<RpcException>(async () => await call);
        return (failure.StatusCode, failure.Status.Detail);
    }
}
