using Corfu;

namespace Tango.Model;

/// <summary>Effects of calls that were applied and are not published. Playback only.</summary>
internal sealed class GatheredEffects
{
    // Effects of the call that is being applied: a call that fails has none.
    private readonly List<object> _emitted = [];
    private readonly List<GatheredEffect> _kept = [];

    public IReadOnlyList<GatheredEffect> Kept => _kept;

    /// <summary>Gets what the next call emits.</summary>
    public List<object> Begin()
    {
        _emitted.Clear();
        return _emitted;
    }

    /// <summary>The call has succeeded.</summary>
    public void Keep(HostedObject applied, RecordVersion version)
    {
        foreach (var effect in _emitted) _kept.Add(new GatheredEffect(applied, version, effect));
    }

    /// <summary>Records from there on are not published.</summary>
    public void DropFrom(LogPosition end) => _kept.RemoveAll(effect => effect.Version.Position >= end);

    public void Clear() => _kept.Clear();
}

internal readonly record struct GatheredEffect(HostedObject Applied, RecordVersion Version, object Effect);
