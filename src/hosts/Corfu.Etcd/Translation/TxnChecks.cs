namespace Corfu.Etcd.Translation;

/// <summary>Refuses malformed requests, as etcd does before it decides anything.</summary>
internal static class TxnChecks
{
    public static void Check(PutRequest request)
    {
        if (request.Key.IsEmpty) throw EtcdErrors.EmptyKey;
        if (request.IgnoreValue && !request.Value.IsEmpty) throw EtcdErrors.ValueProvided;
        if (request.IgnoreLease && request.Lease != 0) throw EtcdErrors.LeaseProvided;
        // No lease of the store is below 1.
        if (request.Lease < 0) throw EtcdErrors.LeaseNotFound;
    }

    public static void Check(DeleteRangeRequest request)
    {
        if (request.Key.IsEmpty) throw EtcdErrors.EmptyKey;
    }

    /// <param name="mostOperations">The bound of a level and those around it together.</param>
    public static void Check(TxnRequest request, int mostOperations)
    {
        var operations = Math.Max(request.Compare.Count, Math.Max(request.Success.Count, request.Failure.Count));
        if (operations > mostOperations) throw EtcdErrors.TooManyOperations;
        foreach (var compare in request.Compare)
        {
            if (compare.Key.IsEmpty) throw EtcdErrors.EmptyKey;
        }

        foreach (var operation in request.Success.Concat(request.Failure))
            Check(operation, mostOperations - operations);
    }

    private static void Check(RequestOp operation, int mostOperations)
    {
        switch (operation.RequestCase)
        {
            case RequestOp.RequestOneofCase.RequestRange:
                RangeAnswers.Check(operation.RequestRange);
                break;
            case RequestOp.RequestOneofCase.RequestPut:
                Check(operation.RequestPut);
                break;
            case RequestOp.RequestOneofCase.RequestDeleteRange:
                Check(operation.RequestDeleteRange);
                break;
            case RequestOp.RequestOneofCase.RequestTxn:
                Check(operation.RequestTxn, mostOperations);
                break;
            default:
                // Etcd's answer to an operation that is none.
                throw EtcdErrors.KeyNotFound;
        }
    }
}
