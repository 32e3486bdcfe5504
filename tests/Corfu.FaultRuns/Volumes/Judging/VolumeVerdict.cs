namespace Corfu.FaultRuns.Volumes.Judging;

/// <summary>The verdict on all lives of a volume: each mount finds what the mount before had found, with a prefix of
/// its writes, all acknowledged ones among them.</summary>
public sealed class VolumeVerdict
{
    private readonly List<string> _wrong = [];
    private readonly List<string> _lost = [];
    private readonly List<string> _broken = [];

    public long Puts { get; private set; }

    public long Gets { get; private set; }

    public IReadOnlyList<string> Wrong => _wrong;

    public bool IsGood => Wrong.Count == 0 && _lost.Count == 0 && _broken.Count == 0;

    public IEnumerable<string> Told(int most) => _broken.Concat(_lost).Concat(Wrong).Take(most);

    /// <param name="lives">In their order; the last one only reads.</param>
    public static VolumeVerdict Of(IReadOnlyList<VolumeLife> lives)
    {
        var verdict = new VolumeVerdict();
        var before = new VolumeLife();
        foreach (var life in lives)
        {
            verdict.Puts += life.Acknowledged.Count;
            verdict.Gets += life.Reads;
            verdict._wrong.AddRange(life.Wrong);
            // A life that did not come to its mount has changed nothing.
            if (!life.IsMounted) continue;
            verdict.Compare(before, life);
            before = life;
        }

        return verdict;
    }

    public override string ToString() =>
        $"wrong={Wrong.Count} lost_after_ack={_lost.Count} prefix={(_broken.Count == 0 ? "yes" : "no")}";

    private void Compare(VolumeLife before, VolumeLife after)
    {
        var state = new Dictionary<int, long>(before.Found);
        var differing = state.Keys.Union(after.Found.Keys).Count(block => Differs(state, after.Found, block));
        // The longest prefix whose outcome is the content: shorter ones may look the same.
        long? last = differing == 0 ? 0 : null;
        foreach (var write in before.Writes)
        {
            for (var block = write.First; block < write.First + write.Count; block++)
            {
                if (Differs(state, after.Found, block)) differing--;
                state[block] = write.IsClear ? 0 : write.Number;
                if (Differs(state, after.Found, block)) differing++;
            }

            if (differing == 0) last = write.Number;
        }

        if (last is not { } prefix)
        {
            var block = after.Found.Keys.FirstOrDefault(block => Differs(before.Found, after.Found, block));
            _broken.Add($"a mount finds no prefix of the {before.Writes.Count} writes before it: block {block} is of "
                + $"write {after.Found.GetValueOrDefault(block)}, and was of {before.Found.GetValueOrDefault(block)}");
            return;
        }

        _lost.AddRange(before.Acknowledged.Where(number => number > prefix).Order()
            .Select(number => $"write {number} was acknowledged, and the next mount ends behind write {prefix}"));
    }

    private static bool Differs(IReadOnlyDictionary<int, long> one, IReadOnlyDictionary<int, long> other, int block) =>
        one.GetValueOrDefault(block) != other.GetValueOrDefault(block);
}
