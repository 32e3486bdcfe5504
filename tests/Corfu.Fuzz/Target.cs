namespace Corfu.Fuzz;

/// <summary>A decoder under attack.</summary>
/// <param name="Share">Number of a round's inputs for this target.</param>
/// <param name="Feed">Decodes; nothing but the documented exceptions may leave it.</param>
public sealed record Target(string Name, int Share, IReadOnlyList<byte[]> Samples, Action<byte[]> Feed,
    params Type[] Documented)
{
    /// <summary>Makes checks and lengths fit again, so that damage gets past them to what stands behind.</summary>
    public Action<byte[]>? Repair { get; init; }

    /// <summary>Bytes that any input may cost, whatever its length.</summary>
    public long Allowance { get; init; } = 256 << 10;

    /// <summary>Bytes that each byte of an input may cost besides.</summary>
    public int PerByte { get; init; } = 512;

    public long Limit(int length) => Allowance + ((long)length * PerByte);

    public bool IsDocumented(Exception e) => Documented.Any(t => t.IsInstanceOfType(e));
}
