namespace Corfu.Sequencer;

/// <summary>
/// The graces in force (R10). There is no clock here: a grace lasts until a number of further positions are granted, by
/// when its writer has long written, or is gone.
/// </summary>
internal sealed class GraceWindow(ushort longest, int span)
{
    /// <summary>Ends ascend and graces strictly descend, so that the first one in force is the longest.</summary>
    private readonly LinkedList<(ushort Grace, long Until)> _graces = new();

    public void Clear() => _graces.Clear();

    public void Ask(ushort grace, long next)
    {
        if (grace == 0) return;
        grace = Math.Min(grace, longest);
        while (_graces.Last is { } last && last.Value.Grace <= grace) _graces.RemoveLast();
        _graces.AddLast((grace, next + span));
    }

    public ushort Longest(long next)
    {
        while (_graces.First is { } first && first.Value.Until <= next) _graces.RemoveFirst();
        return _graces.First?.Value.Grace ?? 0;
    }
}
