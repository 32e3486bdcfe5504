namespace Salus.Reads;

/// <summary>Blocks whose leaves are known.</summary>
/// <param name="leaves">The leaves of the blocks, as of the read (S14).</param>
/// <param name="hasChanged">The region has changed since.</param>
internal sealed class BlocksQuestion(RegionKey region, int first, ReadOnlyMemory<Hash128> leaves, int blockSize,
    BatchPoint point, Func<bool> hasChanged) : MemberQuestion<GetResponse>(region)
{
    public override string What => "reading blocks";

    public override Request<GetResponse> At(Epoch generation) =>
        point.Blocks(generation, Region, first, leaves.Length);

    public override Judgment Judge(GetResponse response)
    {
        // Corrupt: the member has found damage of its own, and sees to it.
        if (!response.IsOk) return Judgment.Unable;
        return IsRight(response) ? Judgment.Good : hasChanged() ? Judgment.Changed : Judgment.Wrong;
    }

    private bool IsRight(GetResponse response)
    {
        if (response.Blocks.Length != leaves.Length) return false;
        for (var i = 0; i < leaves.Length; i++)
        {
            var data = response.Blocks[i];
            var leaf = leaves.Span[i];
            if (leaf.IsEmpty ? !data.IsEmpty : data.Length != blockSize || TreeHash.OfBlock(data.Span) != leaf)
                return false;
        }

        return true;
    }
}
