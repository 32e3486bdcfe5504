namespace Salus.Coordination.Rules;

/// <summary>The forms of a ruling, and what most rules look at first.</summary>
internal static class Verdict
{
    public static string? FaultOf(VolumeState state, long run, RunPhase phase)
    {
        if (run != state.Head.Run) return $"the volume is at run {state.Head.Run}, not at {run}: another writer has it";
        return state.Head.Phase == phase ? null : $"run {run} is {state.Head.Phase}, not {phase}";
    }

    public static bool Find(VolumeState state, int region, out RegionState known, out VolumeRuling refusal)
    {
        refusal = Refuse(state, $"the volume has no region {region}");
        return state.Regions.TryGetValue(region, out known!);
    }

    public static bool Find(
        VolumeState state, int region, Epoch generation, out RegionState known, out VolumeRuling refusal)
    {
        if (!Find(state, region, out known, out refusal)) return false;
        refusal = Refuse(state, $"region {region} is at generation {known.Current.Number.Value}, not at "
            + $"{generation.Value}: look at it again");
        return known.Current.Number == generation;
    }

    public static VolumeRuling Set(VolumeState state, int region, RegionState known) =>
        new(state with { Revision = state.Revision + 1, Regions = state.Regions.SetItem(region, known) }, null);

    public static VolumeRuling Head(VolumeState state, VolumeHead head) =>
        new(state with { Revision = state.Revision + 1, Head = head }, null);

    public static VolumeRuling Refuse(VolumeState state, string why) => new(state, why);

    public static VolumeRuling Same(VolumeState state) => new(state, null);
}
