namespace Corfu.ModelCheck.Nodes;

/// <summary>A unit's page at a position.</summary>
/// <param name="Epoch">The epoch in which the value was written.</param>
public readonly record struct PageView(PageState State, EntryOrigin Origin, Epoch Epoch)
{
    public bool IsWritten => State is PageState.Data or PageState.Junk;

    public bool SameValue(in PageView other) => State == other.State && Origin == other.Origin;

    public override string ToString() => State switch
    {
        PageState.Unwritten => "-",
        PageState.Data => $"data {Names.Of(Origin)} of {Epoch}",
        PageState.Junk => $"junk {Names.Of(Origin)} of {Epoch}",
        _ => State.ToString(),
    };
}
