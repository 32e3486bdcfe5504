namespace Salus.Nbd.Writes;

/// <summary>A block of which a write replaces a part: its first and last bytes are kept.</summary>
/// <param name="Target">The block as it is written; all but the bytes that are kept are there.</param>
internal readonly record struct Edge(long Block, int KeptBefore, int KeptAfter, Memory<byte> Target)
{
    /// <param name="present">The block as the writes before leave it.</param>
    public void Merge(ReadOnlySpan<byte> present)
    {
        var target = Target.Span;
        present[..KeptBefore].CopyTo(target);
        present[^KeptAfter..].CopyTo(target[^KeptAfter..]);
    }
}
