namespace Craq.Chains;

/// <summary>A mutation that waits for a transaction which holds one of its keys.</summary>
/// <param name="Request">Owns its memory.</param>
/// <param name="Arrived">The stamp of its arrival.</param>
/// <param name="Bytes">As <see cref="SizeOf"/> counts them.</param>
internal sealed record BlockedMutation(MutateRequest Request, ReplyTo To, long Arrived, long Bytes)
{
    // An operation, a compare or a read besides its key and value.
    private const int PartBytes = 64;

    /// <summary>The memory that the request holds while it waits.</summary>
    public static long SizeOf(MutateRequest request)
    {
        long bytes = PartBytes;
        foreach (var compare in request.Compares) bytes += PartBytes + compare.Key.Bytes.Length + compare.Value.Length;
        foreach (var key in request.Reads) bytes += PartBytes + key.Bytes.Length;
        foreach (var operation in request.Operations)
            bytes += PartBytes + operation.Key.Bytes.Length + operation.Value.Length;
        return bytes;
    }
}
