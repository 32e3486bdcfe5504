using Corfu;

namespace Tango.Model;

/// <summary>All hosted objects at one position: what readers read and transactions take as their snapshot (R17).
/// Immutable.</summary>
/// <param name="End">Everything below is included, nothing at or above.</param>
/// <param name="Views">By <see cref="HostedObject.Slot"/>, in pieces of <see cref="PieceLength"/>: a publication copies
/// the pieces that changed only.</param>
internal sealed record PublishedViews(LogPosition End, FrozenView[][] Views)
{
    public const int PieceLength = 32;

    public FrozenView Of(HostedObject hosted)
    {
        var (piece, index) = Math.DivRem(hosted.Slot, PieceLength);
        if (hosted.Slot >= 0 && piece < Views.Length && Views[piece][index] is var view && view.Owner == hosted)
            return view;
        // A deleted object has left, and its handles hear why for ever.
        return hosted.Stopped is { IsDeletion: true } deleted
            ? new FrozenView(hosted, null, hosted.Versions.LastWriteEnd, deleted)
            : default;
    }
}

/// <summary>An object's view as published: it is not changed any more.</summary>
/// <param name="Owner">Whose view it is: slots are used again.</param>
/// <param name="View">Null: not hosted, or without views.</param>
/// <param name="LastWriteEnd">First position after the object's last write.</param>
internal readonly record struct FrozenView(HostedObject Owner, TangoObject? View, LogPosition LastWriteEnd,
    TangoObjectStoppedException? Stopped)
{
    public TangoObject Require(HostedObject hosted) =>
        Stopped is not null
            ? throw Stopped.Told
            : View ?? throw new TangoNotHostedException(hosted.Name);
}
