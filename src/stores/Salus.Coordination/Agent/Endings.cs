namespace Salus.Coordination;

/// <summary>Answers of processes that a generation waits for: stores that are to seal, and members that are to open.
/// Pure.</summary>
internal sealed class Endings(SalusAgentOptions options)
{
    /// <summary>Probes without an answer, one behind the other, that make a process mute.</summary>
    private const int MuteAfter = 2;

    private readonly Dictionary<(RegionKey Region, Epoch Generation, Incarnation Process, bool IsSeal), Answers>
        _answers = [];

    // Processes whose last probe, of whatever region, had no answer, and when that was.
    private readonly Dictionary<Incarnation, TimeSpan> _silent = [];

    /// <summary>Whether the process is to be asked now.</summary>
    public bool IsDue(RegionKey region, Epoch generation, BookedNode node, bool isSeal, TimeSpan now)
    {
        var known = Of(region, generation, node, isSeal);
        return !(isSeal && known.IsGood) && !known.IsMute && now >= known.Next;
    }

    public bool IsMute(RegionKey region, Epoch generation, Incarnation process, bool isSeal) =>
        _answers.TryGetValue((region, generation, process, isSeal), out var known) && known.IsMute;

    /// <summary>A process has answered the probe of a member, or has not.</summary>
    public void Heard(Incarnation process, bool answers, TimeSpan now)
    {
        if (answers) _silent.Remove(process);
        else _silent[process] = now;
    }

    /// <summary>Whether the process was silent when it was probed last, not long ago.</summary>
    public bool WasSilent(Incarnation process, TimeSpan now) =>
        _silent.TryGetValue(process, out var at) && now - at <= options.AccusedFor;

    /// <param name="isGood">The store has sealed; the member has answered.</param>
    public void Record(
        RegionKey region, Epoch generation, BookedNode node, bool isSeal, bool isGood, TimeSpan now) =>
        _answers[(region, generation, node.Incarnation, isSeal)] = new Answers(
            isGood ? 0 : Of(region, generation, node, isSeal).Failures + 1, isGood, now + options.Retry);

    /// <summary>Drops what is known of generations that have opened, or have a successor.</summary>
    public void Forget(MapView view)
    {
        foreach (var known in _answers.Keys.Where(known => !IsOpening(view, known.Region, known.Generation)).ToArray())
            _answers.Remove(known);
        var booked = view.Nodes.Stores.Values.Select(static node => node.Incarnation).ToHashSet();
        foreach (var gone in _silent.Keys.Where(process => !booked.Contains(process)).ToArray()) _silent.Remove(gone);
    }

    private static bool IsOpening(MapView view, RegionKey key, Epoch generation) =>
        view.Volumes.TryGetValue(key.Volume, out var volume) && volume.Regions.TryGetValue(key.Region, out var region)
        && region.Current.Number == generation && region.Current.Opening is null;

    private Answers Of(RegionKey region, Epoch generation, BookedNode node, bool isSeal) =>
        _answers.GetValueOrDefault((region, generation, node.Incarnation, isSeal));

    private readonly record struct Answers(int Failures, bool IsGood, TimeSpan Next)
    {
        public bool IsMute => Failures >= MuteAfter;
    }
}
