namespace Corfu.Etcd.Translation;

/// <summary>Reads of ranges, with etcd's filters and orders over those of the store.</summary>
internal static class RangeAnswers
{
    /// <exception cref="Grpc.Core.RpcException">The request is malformed.</exception>
    public static void Check(RangeRequest request)
    {
        if (request.Key.IsEmpty) throw EtcdErrors.EmptyKey;
    }

    public static StoreRange RangeOf(RangeRequest request) => Ranges.Of(request.Key, request.RangeEnd);

    /// <summary>Options of the store's read: all of a range that is filtered or put in another order here.</summary>
    public static RangeOptions OptionsOf(RangeRequest request)
    {
        var whole = IsWholeNeeded(request);
        return new RangeOptions
        {
            // The answer's count is of the whole range, whatever the limit. The key behind the limit has its place in
            // another order, too.
            Limit = whole || request.Limit <= 0 ? 0 : (int)Math.Min(request.Limit, int.MaxValue - 1) + 1,
            KeysOnly = request.KeysOnly && !OrdersByValue(request),
            CountOnly = request.CountOnly,
        };
    }

    /// <param name="found">As <see cref="OptionsOf"/> asked for it.</param>
    public static RangeResponse Answer(RangeRequest request, StoreEntries found, ResponseHeader header)
    {
        var entries = found.Entries.Where(entry => IsWanted(request, entry));
        var limit = request.Limit > 0 ? request.Limit : long.MaxValue;
        StoreEntry[] all = [.. Order(request, entries)];
        var answer = new RangeResponse
        {
            Header = header,
            Count = found.Count,
            More = all.Length > limit,
        };
        foreach (var entry in all.Take((int)Math.Min(limit, int.MaxValue)))
        {
            var pair = Ranges.ToKeyValue(entry);
            if (request.KeysOnly) pair.Value = Google.Protobuf.ByteString.Empty;
            answer.Kvs.Add(pair);
        }

        return answer;
    }

    // Without an order, etcd puts the first keys up to the limit and one more in the order of the target.
    private static bool IsWholeNeeded(RangeRequest request) =>
        request.SortOrder != RangeRequest.Types.SortOrder.None
        || request.MinModRevision != 0 || request.MaxModRevision != 0
        || request.MinCreateRevision != 0 || request.MaxCreateRevision != 0;

    private static bool OrdersByValue(RangeRequest request) =>
        request.SortTarget == RangeRequest.Types.SortTarget.Value;

    private static bool IsWanted(RangeRequest request, StoreEntry entry) =>
        (request.MaxModRevision == 0 || entry.Revision <= request.MaxModRevision)
        && (request.MinModRevision == 0 || entry.Revision >= request.MinModRevision)
        && (request.MaxCreateRevision == 0 || entry.Created <= request.MaxCreateRevision)
        && (request.MinCreateRevision == 0 || entry.Created >= request.MinCreateRevision);

    // Without an order, and by another target than the key, etcd's order is ascending.
    private static IEnumerable<StoreEntry> Order(RangeRequest request, IEnumerable<StoreEntry> entries)
    {
        Comparison<StoreEntry>? by = request.SortTarget switch
        {
            RangeRequest.Types.SortTarget.Version => static (a, b) => a.Version.CompareTo(b.Version),
            RangeRequest.Types.SortTarget.Create => static (a, b) => a.Created.CompareTo(b.Created),
            RangeRequest.Types.SortTarget.Mod => static (a, b) => a.Revision.CompareTo(b.Revision),
            RangeRequest.Types.SortTarget.Value =>
                static (a, b) => a.Value.Span.SequenceCompareTo(b.Value.Span),
            _ => null,
        };
        var down = request.SortOrder == RangeRequest.Types.SortOrder.Descend;
        if (by is null) return down ? entries.Reverse() : entries;
        var order = Comparer<StoreEntry>.Create(by);
        return down ? entries.OrderDescending(order) : entries.Order(order);
    }
}
