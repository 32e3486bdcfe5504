namespace Craq.Chains;

/// <summary>Copies of requests that outlive their connection's buffer.</summary>
internal static class RequestCopies
{
    public static MutateRequest ToOwned(this MutateRequest request) => request with
    {
        Compares = request.Compares.ToOwned(),
        Reads = request.Reads.ToOwned(),
        Operations = request.Operations.ToOwned(),
    };

    public static ReplicateRequest ToOwned(this ReplicateRequest request) => request with
    {
        Records = [.. request.Records.Select(static record => (ReadOnlyMemory<byte>)record.ToArray())],
    };

    public static TransactPart ToOwned(this TransactPart part) => part with
    {
        Compares = part.Compares.ToOwned(),
        Reads = part.Reads.ToOwned(),
        Operations = part.Operations.ToOwned(),
    };

    private static ImmutableArray<ObjectCompare> ToOwned(this ImmutableArray<ObjectCompare> compares) =>
        [.. compares.Select(compare => compare with { Key = compare.Key.ToOwned(), Value = compare.Value.ToArray() })];

    private static ImmutableArray<ObjectKey> ToOwned(this ImmutableArray<ObjectKey> keys) =>
        [.. keys.Select(key => key.ToOwned())];

    private static ImmutableArray<ObjectOperation> ToOwned(this ImmutableArray<ObjectOperation> operations) =>
    [
        .. operations.Select(operation => operation with
        {
            Key = operation.Key.ToOwned(), Value = operation.Value.ToArray(),
        }),
    ];
}
