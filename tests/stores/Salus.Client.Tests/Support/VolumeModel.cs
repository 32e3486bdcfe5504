namespace Salus.Client.Tests.Support;

/// <summary>The contents that a volume may have: those behind each prefix of its writes, in the order of their
/// calls.</summary>
internal sealed class VolumeModel(int blocks)
{
    private readonly List<(int First, byte[] Tags)> _units = [];

    // Invariant: at least so many units are in the volume.
    private int _acknowledged;
    private byte[] _base = new byte[blocks];

    public int Count => _units.Count;

    /// <returns>The unit's number, to acknowledge.</returns>
    public int Write(int first, byte[] tags)
    {
        _units.Add((first, tags));
        return _units.Count;
    }

    public void Acknowledge(int unit) => _acknowledged = Math.Max(_acknowledged, unit);

    /// <summary>The content is that behind a prefix with all that was acknowledged; the rest never was.</summary>
    public void Settle(byte[] content)
    {
        var state = (byte[])_base.Clone();
        var matches = _acknowledged == 0 && state.AsSpan().SequenceEqual(content) ? 0 : -1;
        for (var i = 0; i < _units.Count; i++)
        {
            Apply(state, _units[i]);
            if (i + 1 >= _acknowledged && matches < 0 && state.AsSpan().SequenceEqual(content)) matches = i + 1;
        }

        Assert.True(matches >= 0,
            $"No prefix of {_units.Count} writes, {_acknowledged} of them acknowledged, has this content.");
        _base = content;
        _units.Clear();
        _acknowledged = 0;
    }

    /// <summary>The tags that a block may have in a read that ends now: those of all writes from the last one that was
    /// acknowledged at its begin on.</summary>
    public bool MayRead(int block, byte tag, int acknowledgedAtBegin)
    {
        var possible = new HashSet<byte> { _base[block] };
        for (var i = 0; i < _units.Count; i++)
        {
            var (first, tags) = _units[i];
            if (block < first || block >= first + tags.Length) continue;
            if (i < acknowledgedAtBegin) possible.Clear();
            possible.Add(tags[block - first]);
        }

        return possible.Contains(tag);
    }

    public int Acknowledged => _acknowledged;

    private static void Apply(byte[] state, (int First, byte[] Tags) unit) => unit.Tags.CopyTo(state, unit.First);
}
