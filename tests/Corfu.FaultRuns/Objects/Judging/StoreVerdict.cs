namespace Corfu.FaultRuns.Objects.Judging;

/// <summary>The promises of the store that a history breaks.</summary>
public sealed record StoreVerdict(IReadOnlyList<string> Lost, IReadOnlyList<string> StaleStrong,
    IReadOnlyList<string> BeyondBound, IReadOnlyList<string> Torn)
{
    public static StoreVerdict Of(StoreHistory history) => new(LostJudge.Judge(history), ReadJudge.Strong(history),
        ReadJudge.Weak(history), TornJudge.Judge(history));

    public bool IsGood => Lost.Count + StaleStrong.Count + BeyondBound.Count + Torn.Count == 0;

    public IEnumerable<string> Told(int most) =>
    [
        .. Lost.Take(most).Select(text => $"LOST {text}"),
        .. StaleStrong.Take(most).Select(text => $"STALE {text}"),
        .. BeyondBound.Take(most).Select(text => $"BEYOND {text}"),
        .. Torn.Take(most).Select(text => $"TORN {text}"),
    ];

    public override string ToString() => $"lost={Lost.Count} stale_strong={StaleStrong.Count} "
        + $"beyond_bound={BeyondBound.Count} torn={Torn.Count}";
}
